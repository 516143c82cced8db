//! Cancelling: asked once more, refused with a reason.

use leptos::prelude::*;

use super::{functions::CancelOperation, state::Run};
use crate::{
    form::{Submission, endpoint},
    ui::{Form, FormEnd, Icon, Submit, icon},
};

/// What can be done about a run that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Offer {
    /// It is over.
    None,
    Refused(String),
    /// It has not begun.
    Withdraw,
    Stop,
}

#[component]
pub(super) fn Cancel(run: Run) -> impl IntoView {
    let offer = Memo::new(move |_| {
        run.detail.with(|detail| match (&detail.cancel, detail.row.phase) {
            (_, phase) if phase.is_final() => Offer::None,
            (Err(reason), _) => Offer::Refused(reason.clone()),
            (Ok(()), api::operation::Phase::Queued) => Offer::Withdraw,
            (Ok(()), _) => Offer::Stop,
        })
    });
    move || {
        match offer.get() {
        Offer::None => ().into_any(),
        Offer::Refused(reason) => view! {
            <span class="cancel-refused">
                <small class="muted" id="cancel-reason">{reason.clone()}</small>
                <button class="btn danger" type="button" disabled title=reason aria-describedby="cancel-reason">
                    {icon(Icon::Stop)}
                    "Cancel"
                </button>
            </span>
        }
        .into_any(),
        Offer::Withdraw => view! {
            <Confirm run question="Take it from the queue? Nothing has run yet, so nothing changes." yes="Take it from the queue"/>
        }
        .into_any(),
        Offer::Stop => view! {
            <Confirm
                run
                question="Stop this run? No new task starts and those that run are interrupted. What was changed so far stays changed."
                yes="Stop the run"
            />
        }
        .into_any(),
    }
    }
}

/// A disclosure rather than a dialog: it works without JavaScript and is never in the way.
#[component]
fn Confirm(run: Run, question: &'static str, yes: &'static str) -> impl IntoView {
    let function = endpoint::<CancelOperation>();
    let submission = expect_context::<Submission>();
    // A refusal must be seen.
    let refused = move || submission.refused.with(|back| back.as_ref().is_some_and(|back| back.form == function));
    view! {
        <details class="confirm" open=refused>
            <summary class="btn danger">{icon(Icon::Stop)} "Cancel…"</summary>
            <div class="confirm-body">
                <p>{question}</p>
                <Form id="cancel" functions=vec![function]>
                    <input type="hidden" name="name" value=run.name.get_value().to_string()/>
                    <FormEnd>
                        <Submit label=yes class="btn danger-solid"/>
                    </FormEnd>
                </Form>
            </div>
        </details>
    }
}
