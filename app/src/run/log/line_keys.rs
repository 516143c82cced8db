//! The numbers of lines by keyboard: one of them is in the tab order, arrow keys move to the next one, and Enter puts the line into
//! the address, as a click does.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::super::state::Run;
#[cfg(feature = "hydrate")]
use super::mark::Mark;
use super::scroll_position::ScrollPosition;
use super::window::ROW;
use crate::wait::after_render;

impl ScrollPosition {
    /// Keeps the number of the first line that is completely on screen in the tab order.
    pub(super) fn keep_tab_stop(self, run: Run) {
        let line = Memo::new(move |_| {
            let top = self.window.get().top;
            run.log.with_value(|log| log.visible_after(top)).min(run.total.get())
        });
        Effect::new(move |before: Option<u64>| {
            // A row is rendered again when its line arrives.
            run.lines_added.track();
            let line = line.get();
            after_render(move || {
                set_tab_stop(before.unwrap_or(0), "-1");
                set_tab_stop(line, "0");
            });
            line
        });
    }

    /// Scrolls by so many pages at once. The browser would scroll smoothly, and lines that arrive meanwhile would stop it. After
    /// the End key, it would also go back to the end although Page Up was pressed.
    pub(super) fn scroll_pages(self, event: &KeyboardEvent, pages: f64) {
        let Some(node) = self.node.get_untracked() else { return };
        event.prevent_default();
        if pages < 0.0 {
            self.leave_end();
        }
        // Two lines stay on screen.
        let page = f64::from(node.client_height()) - 2.0 * ROW;
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        node.set_scroll_top((f64::from(node.scroll_top()) + pages * page) as i32);
    }

    /// Moves the focus from a line's number to that of the next or previous line. Does nothing while no number is focused.
    #[cfg(feature = "hydrate")]
    pub(super) fn step(self, event: &KeyboardEvent, down: bool) {
        use wasm_bindgen::JsCast;
        let Some(line) = focused_line(event) else { return };
        let next = if down { line.next_element_sibling() } else { line.previous_element_sibling() };
        if let Some(number) = next.and_then(|line| line.first_element_child()) {
            event.prevent_default();
            // New lines must not scroll the focused one away.
            self.sticks_to_end.set(false);
            let _ = number.unchecked_into::<web_sys::HtmlElement>().focus();
        }
    }

    /// Folds or unfolds below the headline whose number is focused, as in a tree: left folds, right unfolds.
    #[cfg(feature = "hydrate")]
    pub(super) fn fold_focused(run: Run, event: &KeyboardEvent, unfold: bool) {
        let line = focused_line(event).and_then(|line| line.id().strip_prefix('L')?.parse().ok());
        let can_fold = |line: &u64| {
            run.log.with_value(|log| {
                let mark = log.get(*line).and_then(|text| Mark::of(&text.s));
                mark.is_some_and(Mark::folds) && log.rows().is_hidden(line + 1) == unfold
            })
        };
        if let Some(line) = line.filter(can_fold) {
            event.prevent_default();
            run.folded_at.set(line);
        }
    }

    /// Does nothing on the server.
    #[cfg(not(feature = "hydrate"))]
    pub(super) fn fold_focused(_: Run, _: &KeyboardEvent, _: bool) {}

    /// Does nothing on the server.
    #[cfg(not(feature = "hydrate"))]
    pub(super) fn step(self, _: &KeyboardEvent, _: bool) {}
}

/// The line whose number is focused.
#[cfg(feature = "hydrate")]
fn focused_line(event: &KeyboardEvent) -> Option<web_sys::Element> {
    use wasm_bindgen::JsCast;
    event.target()?.dyn_into::<web_sys::Element>().ok()?.closest(".ln").ok()?
}

/// Sets the `tabindex` of a line's number, if the line is in the document.
fn set_tab_stop(line: u64, index: &str) {
    let row = document().get_element_by_id(&format!("L{line}"));
    if let Some(number) = row.and_then(|row| row.first_element_child()) {
        let _ = number.set_attribute("tabindex", index);
    }
}
