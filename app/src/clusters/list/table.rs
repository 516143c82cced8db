//! The table of clusters.

use api::Time;
use api::cluster::{ClusterColumn, ClusterFilter, ClusterList, ClusterRow};
use api::operation::OperationRow;
use leptos::prelude::*;

use super::super::fix::editor;
use super::super::health::HealthStatus;
use crate::routes;
use crate::ui::{Ago, Pages, SortHeader, Status, phase_word, row_icon, row_tone};
use crate::words::count;

#[component]
pub(super) fn ClusterTable(list: ClusterList, filter: ClusterFilter) -> impl IntoView {
    let now = list.now;
    let header = |word, column, falls| {
        let kept = filter.clone();
        let link = move |sort| routes::clusters(&ClusterFilter { sort, page: 0, ..kept.clone() });
        view! { <SortHeader word column sort=filter.sort link falls/> }
    };
    let at_page = {
        let kept = filter.clone();
        move |page| routes::clusters(&ClusterFilter { page, ..kept.clone() })
    };
    // A column that is empty in every row is left out.
    let labelled = list.rows.iter().any(|row| !row.labels.is_empty());
    let versioned = list.rows.iter().any(|row| row.live.is_some());
    let noted = list.rows.iter().any(|row| !note(row).is_empty());
    let of = count(list.matching.into(), "cluster", "clusters");
    view! {
        <section class="panel scroll" tabindex="0" aria-label="Clusters">
            <table class="rows">
                <thead>
                    <tr>
                        {header("Name", ClusterColumn::Name, false)} {header("Health", ClusterColumn::Health, false)}
                        {versioned.then(|| header("Version", ClusterColumn::Version, false))}
                        {header("Nodes", ClusterColumn::Nodes, true)} {header("Last operation", ClusterColumn::Last, true)} <th scope="col">"When"</th>
                        {labelled.then(|| view! { <th scope="col" class="tertiary">"Labels"</th> })}
                        {noted.then(|| view! { <th scope="col" class="wide">"Note"</th> })}
                    </tr>
                </thead>
                <tbody>
                    {list.rows.into_iter().map(|row| view! { <Row row now versioned labelled noted/> }).collect_view()}
                </tbody>
            </table>
        </section>
        <Pages page=list.page pages=list.pages of link=at_page/>
    }
}

#[component]
fn Row(row: ClusterRow, now: Time, versioned: bool, labelled: bool, noted: bool) -> impl IntoView {
    let labels = row.labels.iter().map(|label| view! { <span class="tag">{label.clone()}</span> }).collect_view();
    let by = row.last.as_ref().map(|last| {
        let when = last.ended.or(last.started).unwrap_or(last.submitted);
        let by = (!last.by.is_empty()).then(|| view! { <span class="tertiary">{format!(" · {}", last.by)}</span> });
        view! { <Ago time=when now/> {by} }
    });
    let note = noted.then(|| {
        let note = note(&row);
        let text = match row.fix {
            Some(fix) => {
                view! { <a class="cut link" href=editor(row.name.as_str(), fix) title=note.clone()>{note.clone()}</a> }
                    .into_any()
            }
            None => view! { <span class="cut" title=note.clone()>{note.clone()}</span> }.into_any(),
        };
        view! { <td class="muted wide">{text}</td> }
    });
    // Values that are too old are left out. The title says when they were read, not their age: it doesn't change with the clock.
    let read = row.live.as_ref().map(|live| format!("read {}", live.read.utc()));
    let version = row.live.as_ref().map(|live| live.version.clone());
    let nodes = match &row.live {
        Some(live) => Some(format!("{}/{} ready", live.ready, live.nodes)),
        None => row.nodes.map(|nodes| nodes.to_string()),
    };
    // The style sheet hides faint cells where a row is a card.
    let nothing = || "–".to_owned();
    let (no_version, no_nodes, no_run) = (version.is_none(), nodes.is_none(), row.last.is_none());
    view! {
        <tr>
            <th scope="row"><a class="name" href=routes::cluster(&row.name) title=row.name.to_string()><span class="cut">{row.name.to_string()}</span></a></th>
            <td><HealthStatus row=row.clone()/></td>
            {versioned.then(|| view! { <td class="mono" class:faint=no_version data-label="Version" title=read.clone()>{version.unwrap_or_else(nothing)}</td> })}
            <td class:faint=no_nodes data-label="Nodes" title=read.clone()>{nodes.unwrap_or_else(nothing)}</td>
            <td class:faint=no_run><LastOperation last=row.last/></td>
            <td class="muted">{by}</td>
            {labelled.then(|| view! { <td class="labels tertiary">{labels}</td> })}
            {note}
        </tr>
    }
}

fn note(row: &ClusterRow) -> String {
    if row.note.is_empty() && row.queued > 0 { format!("{} queued", row.queued) } else { row.note.clone() }
}

#[component]
fn LastOperation(last: Option<OperationRow>) -> impl IntoView {
    match last {
        None => view! { "–" }.into_any(),
        Some(last) => {
            let status = phase_word(&last);
            view! {
                <a href=routes::operation(&last.name) title=format!("{status}: {}, {}", last.name, last.action)>
                    <Status tone=row_tone(&last) icon=row_icon(&last) word=last.title()/>
                    <span class="sr">{format!(", {status}")}</span>
                </a>
            }
            .into_any()
        }
    }
}
