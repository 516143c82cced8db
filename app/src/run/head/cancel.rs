//! The button that cancels a run, after a question. If a cancel is not possible, it is disabled and shows the reason.

use api::operation::Phase;
use leptos::prelude::*;

use super::super::functions::CancelOperation;
use super::super::pieces::RunPiece;
use super::super::state::Run;
use crate::form::{Submission, endpoint};
use crate::ui::{Icon, dynamic, icon};
use crate::wasm_size::piece::Piece;

/// Which cancel is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Offer {
    /// No cancel: the run has ended.
    None,
    /// No cancel, for this reason.
    Refused(String),
    /// The run is queued and can be removed from the queue.
    Withdraw,
    /// The run can be stopped.
    Stop,
}

#[component]
pub(crate) fn Cancel(run: Run) -> impl IntoView {
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
        // Rendered again when the run starts, because the question differs.
        Offer::Withdraw | Offer::Stop => view! { <Question/> }.into_any(),
    })
}

/// A `<details>` rather than a dialog: it works without JavaScript.
#[component]
fn Question() -> impl IntoView {
    let submission = expect_context::<Submission>();
    // Open after a refusal, so that the person sees the reason.
    let refused = move || {
        submission.refused.with(|back| back.as_ref().is_some_and(|back| back.form == endpoint::<CancelOperation>()))
    };
    let opened = RwSignal::new(untrack(refused));
    view! {
        <details class="confirm" open=refused on:toggle=move |_| opened.set(true)>
            <summary class="btn danger">{icon(Icon::Stop)} "Cancel…"</summary>
            <div class="confirm-body">
                <Piece piece=RunPiece::Cancel rendered=true shown=opened active=true/>
            </div>
        </details>
    }
}
