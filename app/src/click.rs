//! Clicks on links.

use leptos::ev::MouseEvent;

/// Whether a click on a link opens it in this tab, not in a new tab or window.
pub(crate) fn is_plain(event: &MouseEvent) -> bool {
    event.button() == 0 && !event.ctrl_key() && !event.meta_key() && !event.shift_key() && !event.alt_key()
}
