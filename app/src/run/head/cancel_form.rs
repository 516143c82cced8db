//! The form that cancels a run.

use api::operation::Phase;
use leptos::prelude::*;

use super::super::functions::CancelOperation;
use super::super::state::Run;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::ui::optional;
use crate::watch::StopStatus;

/// Says what the cancel does to this run, and submits it. A piece of the page.
#[component]
pub fn CancelForm() -> impl IntoView {
    let run = expect_context::<Run>();
    let (question, yes) = if run.phase.get_untracked() == Phase::Queued {
        ("Remove this run from the queue? Nothing has run yet, so nothing changes.", "Remove from queue")
    } else {
        (
            "Stop this run? No new task starts, and running tasks are interrupted. Changes already made remain.",
            "Stop the run",
        )
    };
    view! {
        <p>{question}</p>
        {optional(move || {
            let stop = run.told.get().watch.and_then(|watch| watch.stop);
            stop.map(|stop| view! { <p><StopStatus stop/></p> })
        })}
        <Form id="cancel" functions=vec![endpoint::<CancelOperation>()]>
            <input type="hidden" name="name" value=run.name.get_value().to_string()/>
            <FormEnd>
                <Submit label=yes class="btn danger-solid"/>
            </FormEnd>
        </Form>
    }
}
