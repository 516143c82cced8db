//! The table of clusters.

use api::Time;
use api::cluster::{ClusterFilter, ClusterList, ClusterRow};
use api::operation::OperationRow;
use leptos::prelude::*;

use super::super::health::HealthStatus;
use crate::routes;
use crate::ui::{Ago, Pages, SortHeader, Status, phase_icon, phase_tone, phase_word};

#[component]
pub(super) fn ClusterTable(list: ClusterList, filter: ClusterFilter) -> impl IntoView {
    let now = list.now;
    let header = |word, column, falls| {
        let kept = filter.clone();
        let link = move |sort| routes::clusters(&ClusterFilter { sort, page: 0, ..kept.clone() });
        view! { <SortHeader word column sort=filter.sort.clone() default="health" link falls/> }
    };
    let at_page = {
        let kept = filter.clone();
        move |page| routes::clusters(&ClusterFilter { page, ..kept.clone() })
    };
    // A column that is empty in every row is left out.
    let labelled = list.rows.iter().any(|row| !row.labels.is_empty());
    let noted = list.rows.iter().any(|row| !note(row).is_empty());
    let of = format!("{} {}", list.matching, if list.matching == 1 { "cluster" } else { "clusters" });
    view! {
        <section class="panel scroll" tabindex="0" aria-label="Clusters">
            <table class="rows">
                <thead>
                    <tr>
                        {header("Name", "name", false)} {header("Health", "health", false)} {header("Nodes", "nodes", true)}
                        {header("Last operation", "last", true)} <th scope="col">"By"</th>
                        {labelled.then(|| view! { <th scope="col">"Labels"</th> })}
                        {noted.then(|| view! { <th scope="col" class="wide">"Note"</th> })}
                    </tr>
                </thead>
                <tbody>
                    {list.rows.into_iter().map(|row| view! { <Row row now labelled noted/> }).collect_view()}
                </tbody>
            </table>
        </section>
        <Pages page=list.page pages=list.pages of link=at_page/>
    }
}

#[component]
fn Row(row: ClusterRow, now: Time, labelled: bool, noted: bool) -> impl IntoView {
    let labels = row.labels.iter().map(|label| view! { <span class="tag">{label.clone()}</span> }).collect_view();
    let by = row.last.as_ref().map(|last| {
        let when = last.ended.or(last.started).unwrap_or(last.submitted);
        let by = if last.by.is_empty() { String::new() } else { format!("{} · ", last.by) };
        view! { {by} <Ago time=when now/> }
    });
    let note = note(&row);
    view! {
        <tr>
            <th scope="row"><a class="name" href=routes::cluster(&row.name)>{row.name.to_string()}</a></th>
            <td><HealthStatus row=row.clone()/></td>
            <td>{row.nodes.map_or_else(|| "–".to_owned(), |nodes| nodes.to_string())}</td>
            <td><LastOperation last=row.last/></td>
            <td class="muted">{by}</td>
            {labelled.then(|| view! { <td>{labels}</td> })}
            {noted.then(|| view! { <td class="muted wide"><span class="cut" title=note.clone()>{note.clone()}</span></td> })}
        </tr>
    }
}

fn note(row: &ClusterRow) -> String {
    if row.note.is_empty() && row.queued > 0 { format!("{} queued", row.queued) } else { row.note.clone() }
}

#[component]
fn LastOperation(last: Option<OperationRow>) -> impl IntoView {
    match last {
        None => view! { <span class="faint">"–"</span> }.into_any(),
        Some(last) => {
            let status = phase_word(&last);
            view! {
                <a href=routes::operation(&last.name) title=format!("{status}: {}, {}", last.name, last.action)>
                    <Status tone=phase_tone(last.phase) icon=phase_icon(last.phase) word=last.title()/>
                    <span class="sr">{format!(", {status}")}</span>
                </a>
            }
            .into_any()
        }
    }
}
