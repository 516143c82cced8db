//! The review of a change: a summary in words and a diff of the texts.

use api::configuration::{ChangeReview, DiffKind, Document};
use leptos::prelude::*;

use super::hints::Warnings;
use crate::ui::{Alert, Diff, Tone};

#[component]
pub(super) fn Review(review: ChangeReview, document: Document) -> impl IntoView {
    view! {
        <section class="form-answer" tabindex="-1" aria-label="Changes to save">
            <h3>"Changes to save"</h3>
            <Warnings warnings=review.warnings.clone()/>
            <Changes review document/>
        </section>
    }
}

/// The summary and the diff.
#[component]
pub(in super::super) fn Changes(review: ChangeReview, document: Document) -> impl IntoView {
    let changed = review.lines.iter().any(|line| matches!(line.kind, DiffKind::Added | DiffKind::Removed));
    if changed {
        view! {
            {(!review.summary.is_empty())
                .then(|| {
                    let lines = review.summary.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
                    view! { <ul class="plain">{lines}</ul> }
                })}
            <Diff lines=review.lines label=format!("Changes to the {}", document.words())/>
        }
        .into_any()
    } else {
        view! { <Alert tone=Tone::Idle title="No changes: the text is the same as the saved version."/> }.into_any()
    }
}
