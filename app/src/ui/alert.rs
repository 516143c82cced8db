//! What a person should read now, and what to do where there is nothing yet.

use leptos::prelude::*;

use super::{Tone, icon};

/// A message with a border in its colour.
#[component]
pub fn Alert(tone: Tone, #[prop(into)] title: String, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    view! {
        <div class=format!("alert {}", tone.class())>
            <p class="alert-title">{icon(tone.icon())} <span>{title}</span></p>
            {children.map(|children| view! { <div class="alert-body">{children()}</div> }.into_any())}
        </div>
    }
}

/// Nothing here yet: one sentence, one action.
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
