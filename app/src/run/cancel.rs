//! Cancelling: asked once more, refused with a reason.

use api::operation::Phase;
use leptos::prelude::*;

use super::{functions::CancelOperation, state::Run};
use crate::{
    chunks::Page,
    form::{Submission, endpoint},
    piece::Piece,
    ui::{Form, FormEnd, Icon, Submit, dynamic, icon},
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
        run.detail.with(|detail| match &detail.cancel {
            _ if detail.row.phase.is_final() => Offer::None,
            Err(reason) => Offer::Refused(reason.clone()),
            Ok(()) if detail.row.phase == Phase::Queued => Offer::Withdraw,
            Ok(()) => Offer::Stop,
        })
    });
    dynamic(move || match offer.get() {
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
        // Made anew when the run begins, with what it says.
        Offer::Withdraw | Offer::Stop => view! { <Question/> }.into_any(),
    })
}

/// A disclosure rather than a dialog: it works without JavaScript and is never in the way.
#[component]
fn Question() -> impl IntoView {
    let submission = expect_context::<Submission>();
    // A refusal must be seen.
    let refused = move || {
        submission.refused.with(|back| back.as_ref().is_some_and(|back| back.form == endpoint::<CancelOperation>()))
    };
    let opened = RwSignal::new(untrack(refused));
    view! {
        <details class="confirm" open=refused on:toggle=move |_| opened.set(true)>
            <summary class="btn danger">{icon(Icon::Stop)} "Cancel…"</summary>
            <div class="confirm-body">
                <Piece page=Page::RunCancel rendered=true shown=opened lives=true/>
            </div>
        </details>
    }
}

/// What cancelling means for this run, and the form that does it; a piece of the run page.
#[component]
pub fn CancelForm() -> impl IntoView {
    let run = expect_context::<Run>();
    let (question, yes) = if run.phase.get_untracked() == Phase::Queued {
        ("Take it from the queue? Nothing has run yet, so nothing changes.", "Take it from the queue")
    } else {
        (
            "Stop this run? No new task starts and those that run are interrupted. What was changed so far stays changed.",
            "Stop the run",
        )
    };
    view! {
        <p>{question}</p>
        <Form id="cancel" functions=vec![endpoint::<CancelOperation>()]>
            <input type="hidden" name="name" value=run.name.get_value().to_string()/>
            <FormEnd>
                <Submit label=yes class="btn danger-solid"/>
            </FormEnd>
        </Form>
    }
}
