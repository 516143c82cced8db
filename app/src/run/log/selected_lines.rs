//! Scrolls to the selected lines.

use leptos::prelude::*;

use super::super::state::Run;
use super::scroll_position::ScrollPosition;
use super::window;

impl ScrollPosition {
    /// Whether the beginning of the selection is on screen.
    pub(super) fn shows_selection(self, run: Run) -> bool {
        let (Some(Some(lines)), Some(Some((top, height)))) =
            (run.selection.try_get_untracked(), self.view.try_get_untracked())
        else {
            return false;
        };
        run.log.with_value(|log| window::reveal(log.total(), log.rows(), lines.first(), top, height).is_none())
    }

    /// Scrolls to the selection if it is hidden. The bar with the selected lines covers rows at the bottom, and the line that
    /// was just clicked may be one of them.
    pub(super) fn reveal_selection(self, run: Run) {
        let (Some(Some(node)), Some(Some(lines))) = (self.node.try_get_untracked(), run.selection.try_get_untracked())
        else {
            return;
        };
        let (top, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        let to = run.log.with_value(|log| window::reveal(log.total(), log.rows(), lines.first(), top, height));
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        if let Some(to) = to {
            node.set_scroll_top(to as i32);
        }
        self.measure(run);
    }

    /// Scrolls to the selection.
    pub(super) fn show_selection(self, run: Run) {
        let (Some(Some(node)), Some(Some(lines))) = (self.node.try_get_untracked(), run.selection.try_get_untracked())
        else {
            return;
        };
        let height = f64::from(node.client_height());
        let to = run.log.with_value(|log| window::scroll_to(log.total(), log.rows(), lines.first(), height));
        #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
        node.set_scroll_top(to as i32);
        self.measure(run);
        self.sticks_to_end.set(false);
        bring_into_view(&node);
    }
}

/// Scrolls the page as little as needed to show the log.
#[cfg(feature = "hydrate")]
fn bring_into_view(node: &leptos::web_sys::HtmlDivElement) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    node.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn bring_into_view(_: &leptos::web_sys::HtmlDivElement) {}
