//! Links that change the page in place, and the address that names the new state.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

/// Changes the address without a navigation: the page stays as it is.
pub(super) fn replace_url(url: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&leptos::wasm_bindgen::JsValue::NULL, "", Some(url));
    }
}

/// Whether a click on a link opens it in this page, not in a new tab or window.
pub(super) fn is_plain(event: &MouseEvent) -> bool {
    event.button() == 0 && !event.ctrl_key() && !event.meta_key() && !event.shift_key() && !event.alt_key()
}
