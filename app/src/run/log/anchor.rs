//! Keeps the same lines on screen when lines above them take more or fewer rows than before: when wrapping is switched, when the
//! width changes, and when wrapped lines arrive.

use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::scroll_position::ScrollPosition;
use super::window;
use crate::wait::after_render;
use crate::words::whole;

/// The width of the ruler in characters. The browser tells it in whole pixels, so it is long. `.ruler` in `style/50-run.css` must
/// have the same value.
pub(super) const RULER: f64 = 1000.0;

impl ScrollPosition {
    /// The number of characters that fit beside number and time.
    pub(super) fn columns(self, width: f64) -> usize {
        let Some(ruler) = self.ruler.get_untracked() else { return 0 };
        let (character, gutter) = (f64::from(ruler.offset_width()) / RULER, f64::from(ruler.offset_height()));
        usize::try_from(whole((width - gutter) / character)).unwrap_or_default().max(10)
    }

    /// Records where the selection is, or the top line if the selection isn't on screen, for [`Self::stay`].
    pub(super) fn drop_anchor(self, run: Run) {
        let selected = run.selection.get_untracked().filter(|_| self.shows_selection(run)).map(Selection::first);
        let line = selected.unwrap_or_else(|| self.window.get_untracked().top);
        self.anchor_at(run, line);
    }

    /// Keeps this line where it is for [`Self::stay`].
    pub(super) fn anchor_at(self, run: Run, line: u64) {
        let (top, _) = self.view.get_untracked().unwrap_or_default();
        self.anchor.set_value((line, top - self.place_of(run, line)));
    }

    /// The scroll position of a line.
    fn place_of(self, run: Run, line: u64) -> f64 {
        let height = self.view.get_untracked().map_or(0.0, |(_, height)| height);
        run.log.with_value(|log| {
            let rows = log.rows();
            window::scroll_of(rows.before(log.total() + 1), rows.before(line), height)
        })
    }

    /// Scrolls to where the recorded line is now, if lines above it take more or fewer rows than before.
    pub(super) fn stay(self, run: Run) {
        let (line, distance) = self.anchor.get_value();
        let to = self.place_of(run, line) + distance;
        let Some((top, height)) = self.view.get_untracked() else { return };
        if (to - top).abs() < 1.0 {
            return;
        }
        // Render the rows of the new position now: until the browser has scrolled, it would show other lines.
        self.view.set(Some((to, height)));
        after_render(move || {
            if let Some(node) = self.node.try_get_untracked().flatten() {
                #[expect(clippy::cast_possible_truncation, reason = "below the tallest content")]
                node.set_scroll_top(to.round() as i32);
                self.measure(run);
            }
        });
    }
}
