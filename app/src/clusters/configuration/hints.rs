//! What is said about a document that can be used: secrets that logs can't hide well, and what runs won't read as it is meant.

use leptos::prelude::*;

use crate::ui::{Alert, Tone};

#[component]
pub(super) fn Hints(hints: Vec<String>) -> impl IntoView {
    sentences("Logs can't hide these secrets well.", hints)
}

/// Warnings of a document.
#[component]
pub(super) fn Warnings(warnings: Vec<String>) -> impl IntoView {
    sentences("Runs may fail because of this document, or ignore parts of it.", warnings)
}

fn sentences(title: &'static str, sentences: Vec<String>) -> impl IntoView {
    (!sentences.is_empty()).then(|| {
        let lines = sentences.into_iter().map(|sentence| view! { <li>{sentence}</li> }).collect_view();
        view! { <Alert tone=Tone::Warn title><ul class="plain">{lines}</ul></Alert> }
    })
}
