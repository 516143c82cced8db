//! The address of the page.

use leptos::prelude::*;

/// Changes the address without a navigation: the page stays as it is.
pub(super) fn replace_url(url: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&leptos::wasm_bindgen::JsValue::NULL, "", Some(url));
    }
}
