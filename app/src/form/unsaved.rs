//! Asks before typed text is lost.

#[cfg(feature = "hydrate")]
use std::cell::RefCell;

use leptos::prelude::*;

/// While `unsaved` is true, asks before the user leaves the page: by a link, with the browser's buttons, or by closing the tab. Needs
/// JavaScript.
#[cfg(not(feature = "hydrate"))]
pub fn guard_unsaved(_: Signal<bool>) {}

/// While `unsaved` is true, asks before the user leaves the page: by a link, with the browser's buttons, or by closing the tab. A page
/// may have several guards.
#[cfg(feature = "hydrate")]
pub fn guard_unsaved(unsaved: Signal<bool>) {
    Effect::new(move |_| {
        let here = address();
        let id = GUARDS.with_borrow_mut(|guards| {
            guards.newest += 1;
            guards.unsaved.push((guards.newest, unsaved));
            (guards.here, guards.may_leave) = (here, false);
            guards.newest
        });
        let close = listen("beforeunload", move |event| {
            if is_unsaved() {
                event.prevent_default();
            }
        });
        on_cleanup(move || {
            GUARDS.with_borrow_mut(|guards| {
                guards.unsaved.retain(|(other, _)| *other != id);
                guards.may_leave = false;
            });
            (close.take())();
        });
    });
}

/// Path and query of the page. A link within it changes only the rest.
#[cfg(feature = "hydrate")]
fn address() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}

/// What the page guards.
#[cfg(feature = "hydrate")]
#[derive(Default)]
struct Guards {
    /// The number of each guard, and whether its text is unsaved.
    unsaved: Vec<(u32, Signal<bool>)>,
    newest: u32,
    /// The address of the page.
    here: String,
    /// The user was asked and leaves. A link that loads another document would ask again when that unloads this one.
    may_leave: bool,
}

#[cfg(feature = "hydrate")]
thread_local! {
    static GUARDS: RefCell<Guards> = RefCell::default();
}

/// Whether guarded text is unsaved, and the user hasn't agreed to lose it.
#[cfg(feature = "hydrate")]
fn is_unsaved() -> bool {
    let signals: Vec<_> =
        GUARDS.with_borrow(|guards| if guards.may_leave { Vec::new() } else { guards.unsaved.clone() });
    signals.iter().any(|(_, unsaved)| unsaved.try_get_untracked() == Some(true))
}

/// Asks whether the user leaves unsaved text. True if the user stays.
#[cfg(feature = "hydrate")]
fn stays() -> bool {
    let is_unsaved = is_unsaved();
    let stays = is_unsaved && !window().confirm_with_message(QUESTION).unwrap_or(true);
    GUARDS.with_borrow_mut(|guards| guards.may_leave = is_unsaved && !stays);
    stays
}

/// Whether the page has text that the user typed and that is not saved: guarded text, a field with another value than the page came with, or
/// a form that was answered, whose fields came with what was typed.
#[cfg(feature = "hydrate")]
pub(crate) fn has_typed_text() -> bool {
    use wasm_bindgen::JsCast;
    const FIELDS: &str = "form[method=post] :is(textarea, input:not([type=hidden], [type=radio], [type=checkbox]))";
    const ANSWERED: &str = "form[method=post] :is(.form-problem, .form-answer):not(:empty)";
    let has_answer = || document().query_selector(ANSWERED).is_ok_and(|found| found.is_some());
    let is_typed = |node: web_sys::Node| {
        // Text areas have the same two properties.
        let field: web_sys::HtmlInputElement = node.unchecked_into();
        field.value() != field.default_value()
    };
    let fields = document().query_selector_all(FIELDS).ok();
    let has_typed = || fields.is_some_and(|all| (0..all.length()).filter_map(|at| all.get(at)).any(is_typed));
    is_unsaved() || has_answer() || has_typed()
}

/// Lets a page ask when the user follows a link or the browser goes back or forward. Call this before the router starts: browsers tell the
/// listeners of the window in the order in which they were added, and the router must not hear what the user takes back.
#[cfg(feature = "hydrate")]
pub(crate) fn listen_before_the_router() {
    let click = listen("click", |event| {
        if follows_link(&event) && stays() {
            event.prevent_default();
            event.stop_immediate_propagation();
        }
    });
    let back = listen("popstate", |event| {
        let here = GUARDS.with_borrow(|guards| guards.here.clone());
        if here != address() && stays() {
            event.stop_immediate_propagation();
            if let Ok(history) = window().history() {
                let _ = history.push_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&here));
            }
        }
    });
    // A link may stay on the page: to the same page, or to a part of it.
    let typed = listen("input", |_| GUARDS.with_borrow_mut(|guards| guards.may_leave = false));
    std::mem::forget((click, back, typed));
}

#[cfg(feature = "hydrate")]
const QUESTION: &str = "Leave this page? Your changes are not saved and will be lost.";

/// Calls `heard` before any other listener. Returns what ends that.
#[cfg(feature = "hydrate")]
fn listen(
    name: &'static str,
    heard: impl Fn(web_sys::Event) + 'static,
) -> send_wrapper::SendWrapper<Box<dyn FnOnce()>> {
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    let closure = Closure::<dyn Fn(web_sys::Event)>::new(heard);
    let _ = window().add_event_listener_with_callback_and_bool(name, closure.as_ref().unchecked_ref(), true);
    send_wrapper::SendWrapper::new(Box::new(move || {
        let _ = window().remove_event_listener_with_callback_and_bool(name, closure.as_ref().unchecked_ref(), true);
    }))
}

/// Whether a click opens a link in this tab.
#[cfg(feature = "hydrate")]
fn follows_link(event: &web_sys::Event) -> bool {
    use wasm_bindgen::JsCast;
    if !event.dyn_ref().is_some_and(crate::click::is_plain) {
        return false;
    }
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let link = target.and_then(|element| element.closest("a[href]:not([target], [download])").ok().flatten());
    // An empty address and a fragment stay on the page.
    link.and_then(|link| link.get_attribute("href")).is_some_and(|href| !href.is_empty() && !href.starts_with('#'))
}
