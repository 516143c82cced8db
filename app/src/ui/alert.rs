//! Alerts, and the text in place of an empty list.

use leptos::prelude::*;

use super::{Tone, icon};

/// A message with a border in the colour of its tone.
#[component]
pub fn Alert(tone: Tone, #[prop(into)] title: String, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    view! {
        <div class=format!("alert {}", tone.class())>
            <p class="alert-title">{icon(tone.icon())} <span>{title}</span></p>
            {children.map(|children| view! { <div class="alert-body">{children()}</div> }.into_any())}
        </div>
    }
}

/// In place of an empty list: one sentence, and one action as children.
#[component]
pub fn Empty(
    #[prop(into)] title: String,
    #[prop(into)] text: String,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="empty-title">{title}</p>
            <p class="muted">{text}</p>
            {children.map(|children| view! { <div class="empty-actions">{children()}</div> }.into_any())}
        </div>
    }
}
