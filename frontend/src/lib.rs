//! The wasm entry of the console. It starts the app in the browser.
#![recursion_limit = "512"]

use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the boot script of the page.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(app::hydrate());
}
