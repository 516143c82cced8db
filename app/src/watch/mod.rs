//! What there is to watch while a run goes on: whether it may be stopped, what holds it up, and whether the cluster answers.

mod answers;

use api::watch::{Stall, StopAdvice, StopWhen, Watch};
use leptos::prelude::*;

use self::answers::AnswersView;
use crate::ui::{Alert, Status, Tone};

/// Everything that is known; nothing if nothing is.
#[component]
pub(crate) fn WatchView(watch: Watch) -> impl IntoView {
    let Watch { is_running, stop, stall, answers, .. } = watch;
    let shows_panel = stop.is_some() || !answers.is_empty();
    let panel = shows_panel.then(|| {
        let stop = stop.map(|stop| view! { <p class="watch-stop"><StopStatus stop/></p> });
        let answers = answers.into_iter().map(|answers| view! { <AnswersView answers is_running/> });
        view! { <section class="panel watch" aria-label="Stopping and availability">{stop} {answers.collect_view()}</section> }
    });
    view! {
        <div class="watch-stall" role="status">{stall.map(|stall| view! { <StallAlert stall/> })}</div>
        {panel}
    }
}

/// Whether the run may be stopped, and what stopping it leaves.
#[component]
pub(crate) fn StopStatus(stop: StopAdvice) -> impl IntoView {
    let (tone, word) = match stop.when {
        StopWhen::Now => (Tone::Ok, "Safe to stop now.".to_owned()),
        StopWhen::AfterNode(node) => (Tone::Warn, format!("Safe to stop after {node}.")),
        StopWhen::NotNow => (Tone::Err, "Don't stop now.".to_owned()),
    };
    view! {
        <Status tone word/>
        " "
        <span class="muted">{stop.why}</span>
    }
}

#[component]
fn StallAlert(stall: Stall) -> impl IntoView {
    let reasons = (!stall.reasons.is_empty()).then(|| {
        view! { <ul class="list">{stall.reasons.into_iter().map(|reason| view! { <li>{reason}</li> }).collect_view()}</ul> }
    });
    view! { <Alert tone=Tone::Warn title=stall.title>{reasons}</Alert> }
}
