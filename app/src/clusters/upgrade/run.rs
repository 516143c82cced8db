//! The newest upgrade, above everything else.

use api::Time;
use api::cluster::LastUpgrade;
use api::operation::Phase;
use leptos::prelude::*;

use crate::routes;
use crate::ui::{Ago, Alert, Since, phase_word, row_tone};
use crate::watch::WatchView;

#[component]
pub(super) fn LastRun(last: LastUpgrade, now: Time) -> impl IntoView {
    let LastUpgrade { row, to, watch, note, settling } = last;
    let what = to.map_or_else(|| "The upgrade".to_owned(), |to| format!("The upgrade to {to}"));
    let title = match row.phase {
        Phase::Running => format!("{what} is running"),
        Phase::Queued => format!("{what} is queued"),
        _ => format!("{what}: {}", phase_word(&row).to_lowercase()),
    };
    let when = match (row.ended, row.started) {
        (Some(ended), _) => view! { <Ago time=ended now/> ". " }.into_any(),
        (None, Some(start)) => view! { "For " <Since start now/> ". " }.into_any(),
        (None, None) => ().into_any(),
    };
    let next = match row.phase {
        Phase::Failed | Phase::Cancelled => Some(
            "Nodes that were upgraded keep their version. Repair what the run names, then continue: the next run starts where this one ended.",
        ),
        _ => None,
    };
    let message = (row.phase != Phase::Succeeded && row.phase != Phase::Running).then(|| format!("{} ", row.message));
    view! {
        <Alert tone=row_tone(&row) title>
            <p>{when} {message} {next}</p>
            {(!note.is_empty()).then(|| view! { <p>{note}</p> })}
            {settling.then(|| view! { <p class="muted">"The versions of the nodes are being read."</p> })}
            <div class="bar"><a class="btn" href=routes::operation(&row.name)>"Log and tasks"</a></div>
        </Alert>
        <WatchView watch/>
    }
}
