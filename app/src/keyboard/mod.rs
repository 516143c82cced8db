//! Keyboard shortcuts, and the dialog that lists them.

mod keys;

use leptos::prelude::*;

pub(crate) use self::keys::KeyList;
use crate::ui::{Icon, icon};

/// Listens for keys, and contains the dialog that `?` opens.
#[component]
pub(crate) fn Keyboard() -> impl IntoView {
    listen();
    view! {
        <dialog class="keys" id="keys" aria-labelledby="keys-title">
            <header>
                <h2 id="keys-title">"Keyboard"</h2>
                <form method="dialog">
                    <button class="tool" title="Close">{icon(Icon::Close)} <span class="sr">"Close"</span></button>
                </form>
            </header>
            <KeyList/>
        </dialog>
    }
}

#[cfg(feature = "hydrate")]
fn listen() {
    let pressed_g = StoredValue::new(false);
    Effect::new(move |_| {
        let handle = window_event_listener(leptos::ev::keydown, move |event| {
            if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() || in_field(&event)
            {
                return;
            }
            if event.key() == "Escape" {
                close_menus();
            }
            let after_g = pressed_g.try_get_value().unwrap_or_default();
            pressed_g.try_set_value(event.key() == "g" && !after_g);
            if let Some(command) = keys::command(&event.key(), after_g) {
                event.prevent_default();
                match command {
                    // By the link of the sidebar, so that a page with unsaved text can ask first.
                    keys::Command::Go(path) => click(&format!("nav a[href=\"{path}\"]")),
                    keys::Command::Filter => focus("[data-filter]"),
                    keys::Command::NextRow => step(1),
                    keys::Command::PreviousRow => step(-1),
                    keys::Command::Help => show_help(),
                }
            }
        });
        on_cleanup(move || handle.remove());
    });
}

#[cfg(not(feature = "hydrate"))]
fn listen() {}

/// Whether the key was pressed in a field or an open dialog, where it is no shortcut.
#[cfg(feature = "hydrate")]
pub(crate) fn in_field(event: &web_sys::KeyboardEvent) -> bool {
    use wasm_bindgen::JsCast;
    let Some(element) = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) else {
        return false;
    };
    element.closest("input, textarea, select, [contenteditable], dialog[open]").ok().flatten().is_some()
}

/// Closes the open menus and questions, and leaves the focus on the button that opens them.
#[cfg(feature = "hydrate")]
fn close_menus() {
    const OPEN: &str = ":is(.menu, .confirm)[open]";
    while let Some(menu) = document().query_selector(OPEN).ok().flatten() {
        focus(&format!("{OPEN} > summary"));
        let _ = menu.remove_attribute("open");
    }
}

#[cfg(feature = "hydrate")]
fn find(selector: &str) -> Option<web_sys::HtmlElement> {
    use wasm_bindgen::JsCast;
    document().query_selector(selector).ok()??.dyn_into().ok()
}

#[cfg(feature = "hydrate")]
fn focus(selector: &str) {
    if let Some(element) = find(selector) {
        let _ = element.focus();
    }
}

#[cfg(feature = "hydrate")]
fn click(selector: &str) {
    if let Some(element) = find(selector) {
        element.click();
    }
}

/// Moves the focus to the first link of the next or previous row. Enter then opens it, as it does on every link.
#[cfg(feature = "hydrate")]
fn step(by: i32) {
    use wasm_bindgen::JsCast;
    let Ok(rows) = document().query_selector_all("#main .rows tbody tr") else { return };
    let links: Vec<web_sys::HtmlElement> = (0..rows.length())
        .filter_map(|at| rows.get(at)?.dyn_into::<web_sys::Element>().ok())
        .filter_map(|row| row.query_selector("a").ok().flatten()?.dyn_into().ok())
        .collect();
    let active = document().active_element();
    let inside = |link: &web_sys::HtmlElement| {
        let row = link.closest("tr").ok().flatten();
        row.is_some_and(|row| row.contains(active.as_deref()))
    };
    let next = keys::next_row(links.iter().position(inside), by, links.len());
    if let Some(link) = next.and_then(|at| links.get(at)) {
        let _ = link.focus();
    }
}

#[cfg(feature = "hydrate")]
fn show_help() {
    use wasm_bindgen::JsCast;
    if let Some(dialog) =
        document().get_element_by_id("keys").and_then(|d| d.dyn_into::<web_sys::HtmlDialogElement>().ok())
    {
        let _ = dialog.show_modal();
    }
}
