//! Asks before typed text is lost.

#[cfg(feature = "hydrate")]
use std::{cell::RefCell, rc::Rc};

use leptos::prelude::*;

/// While `unsaved` is true, asks before the user leaves the page: by a link, with the browser's buttons, or by closing the tab. Needs
/// JavaScript.
#[cfg(not(feature = "hydrate"))]
pub fn guard_unsaved(_: Signal<bool>) {}

/// While `unsaved` is true, asks before the user leaves the page: by a link, with the browser's buttons, or by closing the tab.
#[cfg(feature = "hydrate")]
pub fn guard_unsaved(unsaved: Signal<bool>) {
    Effect::new(move |_| {
        let location = window().location();
        let here = location.href().unwrap_or_default();
        let may_leave = StoredValue::new(false);
        let is_unsaved = move || {
            let leaves = may_leave.try_get_value() == Some(true);
            !leaves && unsaved.try_get_untracked() == Some(true)
        };
        // Asks once: a link that loads another document would ask again when that unloads this one.
        let stays = move || {
            let stays = is_unsaved() && !window().confirm_with_message(QUESTION).unwrap_or(true);
            may_leave.try_set_value(!stays && is_unsaved());
            stays
        };
        let click = listen("click", move |event| {
            if follows_link(&event) && stays() {
                event.prevent_default();
                event.stop_immediate_propagation();
            }
        });
        let on_back = Rc::new(move || {
            let stays = stays();
            if stays && let Ok(history) = window().history() {
                let _ = history.push_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&here));
            }
            stays
        });
        ON_BACK.set(Some(on_back));
        IS_UNSAVED.set(Some(Rc::new(is_unsaved)));
        let close = listen("beforeunload", move |event| {
            if is_unsaved() {
                event.prevent_default();
            }
        });
        on_cleanup(move || {
            ON_BACK.set(None);
            IS_UNSAVED.set(None);
            [click, close].into_iter().for_each(|stop| (stop.take())());
        });
    });
}

#[cfg(feature = "hydrate")]
thread_local! {
    /// Asks when the browser goes back or forward. Returns true, and restores the URL, if the user stays.
    static ON_BACK: RefCell<Option<Rc<dyn Fn() -> bool>>> = const { RefCell::new(None) };

    /// Whether the text that [`guard_unsaved`] guards is unsaved.
    static IS_UNSAVED: RefCell<Option<Rc<dyn Fn() -> bool>>> = const { RefCell::new(None) };
}

/// Whether the page has text that the user typed and that is not saved: guarded text, a field with another value than the page came with, or
/// a form that was answered, whose fields came with what was typed.
#[cfg(feature = "hydrate")]
pub(crate) fn has_typed_text() -> bool {
    use wasm_bindgen::JsCast;
    const FIELDS: &str = "form[method=post] :is(textarea, input:not([type=hidden], [type=radio], [type=checkbox]))";
    const ANSWERED: &str = "form[method=post] :is(.form-problem, .form-answer):not(:empty)";
    let is_guarded = IS_UNSAVED.with_borrow(Clone::clone).is_some_and(|is_unsaved| is_unsaved());
    let has_answer = || document().query_selector(ANSWERED).is_ok_and(|found| found.is_some());
    let is_typed = |node: web_sys::Node| {
        // Text areas have the same two properties.
        let field: web_sys::HtmlInputElement = node.unchecked_into();
        field.value() != field.default_value()
    };
    let fields = document().query_selector_all(FIELDS).ok();
    let has_typed = || fields.is_some_and(|all| (0..all.length()).filter_map(|at| all.get(at)).any(is_typed));
    is_guarded || has_answer() || has_typed()
}

/// Lets a page ask when the browser goes back or forward. Call this before the router starts: browsers tell the listeners of the
/// window in the order in which they were added, and the router must not hear what the user takes back.
#[cfg(feature = "hydrate")]
pub(crate) fn listen_before_the_router() {
    let forever = listen("popstate", |event| {
        let on_back = ON_BACK.with_borrow(Clone::clone);
        if on_back.is_some_and(|stays| stays()) {
            event.stop_immediate_propagation();
        }
    });
    std::mem::forget(forever);
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
