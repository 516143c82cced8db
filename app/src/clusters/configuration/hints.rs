//! What is said about secrets that logs can't hide well.

use leptos::prelude::*;

use crate::ui::{Alert, Tone};

#[component]
pub(super) fn Hints(hints: Vec<String>) -> impl IntoView {
    (!hints.is_empty()).then(|| {
        let lines = hints.into_iter().map(|hint| view! { <li>{hint}</li> }).collect_view();
        view! { <Alert tone=Tone::Warn title="Logs can't hide these secrets well."><ul class="plain">{lines}</ul></Alert> }
    })
}
