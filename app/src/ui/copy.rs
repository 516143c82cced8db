//! A button that copies a text. It needs JavaScript and is hidden until the page is hydrated.

use leptos::prelude::*;

use super::{Icon, dynamic, icon};

/// Copies `text` and shows `Copied` for two seconds.
#[component]
pub fn Copy(#[prop(into)] text: String, #[prop(default = "Copy".to_owned(), into)] label: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let ready = RwSignal::new(false);
    Effect::new(move |_| ready.set(true));
    let copy = move |_| {
        write_to_clipboard(&text);
        copied.set(true);
        let back = move || {
            copied.try_set(false);
        };
        let _ = set_timeout(back, std::time::Duration::from_secs(2));
    };
    view! {
        <button type="button" class="btn small" hidden=move || !ready.get() on:click=copy>
            {dynamic(move || icon(if copied.get() { Icon::Check } else { Icon::Copy }))}
            <span aria-live="polite">{dynamic(move || if copied.get() { "Copied".to_owned() } else { label.clone() })}</span>
        </button>
    }
}

#[cfg(feature = "hydrate")]
fn write_to_clipboard(text: &str) {
    let _ = window().navigator().clipboard().write_text(text);
}

#[cfg(not(feature = "hydrate"))]
fn write_to_clipboard(_: &str) {}
