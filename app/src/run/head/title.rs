//! Title, status and actions.

use api::operation::Phase;
use api::progress::RunProgress;
use leptos::prelude::*;

use super::super::state::Run;
use super::cancel::Cancel;
use crate::routes;
use crate::ui::{Ago, Chip, Icon, PageTitle, Since, dynamic, icon, optional, phase_word, row_icon, row_tone};
use crate::words::count;

#[component]
pub(crate) fn Head(run: Run) -> impl IntoView {
    let title = run.detail.with_untracked(|detail| format!("{} on {}", detail.row.title(), detail.row.cluster));
    let status = Memo::new(move |_| {
        run.detail.with(|detail| (row_tone(&detail.row), row_icon(&detail.row), phase_word(&detail.row)))
    });
    let chip = move || {
        let (tone, icon, word) = status.get();
        view! { <Chip tone icon word/> }
    };
    let again = run.name.with_value(|name| routes::with_query(routes::NEW_OPERATION, &[("again", name.as_str())]));
    let rest = run
        .name
        .with_value(|name| routes::with_query(routes::NEW_OPERATION, &[("again", name.as_str()), ("failed", "1")]));
    view! {
        <PageTitle text=title aside=dynamic(chip)>
            <Cancel run/>
            {optional(move || {
                run.phase
                    .get()
                    .is_final()
                    .then(|| view! { <a class="btn" href=again.clone()>{icon(Icon::Retry)} "Run again…"</a> })
            })}
            {optional(move || {
                // A failed run offers them beside its reason.
                let is_offered = run.phase.get() == Phase::Cancelled && !run.detail.with(|detail| detail.repeats_as_a_whole);
                let open = |progress: &RunProgress| (is_offered && progress.is_partial()).then(|| progress.open_hosts().len());
                run.progress.with(open).map(|open| {
                    let words = format!("Run again on {}…", count(open as u64, "remaining host", "remaining hosts"));
                    view! { <a class="btn" href=rest.clone()>{words}</a> }
                })
            })}
        </PageTitle>
        <p class="run-meta muted"><Meta run/></p>
    }
}

/// Name, cluster, times, and who submitted the run.
#[component]
fn Meta(run: Run) -> impl IntoView {
    let head = Memo::new(move |_| run.detail.with(|detail| detail.row.clone()));
    dynamic(move || {
        let row = head.get();
        // The server's clock when this row was loaded.
        let now = run.detail.with_untracked(|detail| detail.now);
        let by = if row.by.is_empty() { String::new() } else { format!(" · by {}", row.by) };
        let time = match (row.phase, row.started) {
            (Phase::Queued, _) => view! { "submitted " <Ago time=row.submitted now/> {by} }.into_any(),
            (phase, Some(started)) if !phase.is_final() => {
                view! { "started " <Ago time=started now/> {by} " · running for " <Since start=started end=None now/> }
                    .into_any()
            }
            (_, Some(started)) => {
                let end = row.ended.unwrap_or(now);
                view! { "ended " <Ago time=end now/> " · took " <Since start=started end=Some(end) now/> {by} }
                    .into_any()
            }
            (_, None) => view! { "ended " <Ago time=row.ended.unwrap_or(row.submitted) now/> {by} }.into_any(),
        };
        view! {
            <span class="mono">{row.name.to_string()}</span>
            " · cluster "
            <a class="link" href=routes::cluster(&row.cluster)>{row.cluster.clone()}</a>
            " · "
            {time}
        }
    })
}
