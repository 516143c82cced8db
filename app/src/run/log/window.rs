//! Computes which rows of a long log are on screen, from a fixed row height.

use crate::words::whole;

/// The height of a row in CSS pixels. `--log-row` in `style/50-run.css` must have the same value.
pub const ROW: f64 = 20.0;

/// The largest height of the content, in pixels. Browsers support some 17 to 33 million; for longer logs the scroll position
/// is scaled.
const TALLEST: f64 = 12_000_000.0;

/// Rows above and below the screen that are kept in the document, so that a quick scroll shows no gaps.
const MARGIN: u64 = 25;

/// The rows that are in the document, and their place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Window {
    /// First line, from 1.
    pub first: u64,
    /// One past the last line.
    pub end: u64,
    /// The first line on screen.
    pub top: u64,
    /// Distance of the first row from the top of the content.
    pub offset: f64,
    /// Height of the content.
    pub height: f64,
}

/// The height of `lines` rows in pixels, at most [`TALLEST`].
#[must_use]
pub fn height(lines: u64) -> f64 {
    (rows(lines) * ROW).min(TALLEST)
}

#[expect(clippy::cast_precision_loss, reason = "lines are far below 2^53")]
fn rows(lines: u64) -> f64 {
    lines as f64
}

/// A length for CSS, with two decimals. `{:.2}` would add 15 KB of wasm.
pub fn px(length: f64) -> String {
    let hundredths = whole((length * 100.0).round());
    format!("{}.{:02}px", hundredths / 100, hundredths % 100)
}

/// The window at a scroll position.
#[must_use]
pub fn at(lines: u64, scroll: f64, viewport: f64) -> Window {
    let height = height(lines);
    let in_view = (viewport / ROW).ceil();
    let scroll = scroll.max(0.0).min((height - viewport).max(0.0));
    let exact = if height < TALLEST {
        scroll / ROW
    } else {
        // The scroll bar's full range stands for all rows.
        scroll / (height - viewport) * (rows(lines) - viewport / ROW)
    };
    let top = whole(exact);
    let first = top.saturating_sub(MARGIN);
    let end = (top + whole(in_view) + 1 + MARGIN).min(lines);
    let above = (exact - rows(first)) * ROW;
    Window { first: first + 1, end: end + 1, top: top + 1, offset: (scroll - above).max(0.0), height }
}

/// The scroll position that shows `line` in the upper third.
#[must_use]
pub fn scroll_to(lines: u64, line: u64, viewport: f64) -> f64 {
    let height = height(lines);
    let row = rows(line.min(lines.max(1)).max(1) - 1);
    let most = (height - viewport).max(0.0);
    let exact = (row - (viewport / ROW / 3.0).floor()).max(0.0);
    let scroll = if height < TALLEST { exact * ROW } else { exact / (rows(lines) - viewport / ROW) * most };
    scroll.max(0.0).min(most)
}

/// The scroll position that shows `line`; `None` if `line` is on screen already.
#[must_use]
pub fn reveal(lines: u64, line: u64, scroll: f64, viewport: f64) -> Option<f64> {
    let shown = at(lines, scroll, viewport);
    let whole_rows = whole(viewport / ROW).max(1);
    let is_shown = shown.top <= line && line < shown.top + whole_rows;
    (!is_shown).then(|| scroll_to(lines, line, viewport))
}

/// Whether the newest line is on screen, with a tolerance of one and a half rows.
#[must_use]
pub fn at_end(lines: u64, scroll: f64, viewport: f64) -> bool {
    scroll + viewport >= height(lines) - 1.5 * ROW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_two_decimals() {
        assert_eq!((px(0.0), px(1_999_500.0), px(20.059)), ("0.00px".into(), "1999500.00px".into(), "20.06px".into()));
    }

    #[test]
    fn the_window_covers_what_is_on_screen_and_a_margin() {
        let w = at(200_000, 2_000_000.0, 600.0);
        assert_eq!(w.top, 100_001);
        assert_eq!((w.first, w.end), (99_976, 100_057));
        assert!((w.offset - 99_975.0 * ROW).abs() < 1e-6);
        assert!((w.height - 4_000_000.0).abs() < 1e-6);
    }

    #[test]
    fn both_ends_are_reached() {
        assert_eq!(at(0, 0.0, 600.0).end, 1);
        assert_eq!(at(10, 0.0, 600.0).end, 11);
        let last = at(200_000, 1e9, 600.0);
        assert_eq!(last.end, 200_001);
        assert_eq!(last.top, 199_971);
    }

    #[test]
    fn a_line_that_was_scrolled_to_is_on_screen() {
        for lines in [40, 1_000, 200_000, 3_000_000] {
            for line in [1, 2, lines / 2, lines] {
                let w = at(lines, scroll_to(lines, line, 600.0), 600.0);
                assert!(w.top <= line && line < w.top + 30, "{line} of {lines}: {w:?}");
            }
        }
    }

    #[test]
    fn millions_of_lines_fit_into_the_tallest_content() {
        let lines = 3_000_000;
        assert!(height(lines) <= TALLEST);
        assert_eq!(at(lines, 1e9, 600.0).end, lines + 1);
        let w = at(lines, 1e9, 600.0);
        let bottom = w.offset + rows(w.end - w.first) * ROW;
        assert!((bottom - w.height).abs() < 1.0, "the last row ends where the content ends: {bottom} of {}", w.height);
    }

    #[test]
    fn only_a_hidden_line_is_revealed() {
        assert_eq!(reveal(100, 10, 0.0, 400.0), None);
        assert_eq!(reveal(100, 20, 0.0, 400.0), None);
        assert!(reveal(100, 21, 0.0, 400.0).is_some_and(|to| to > 0.0));
        assert!(reveal(100, 3, 400.0, 400.0).is_some_and(|to| to < 60.0));
    }

    #[test]
    fn following_means_being_at_the_end() {
        assert!(at_end(100, 1400.0, 600.0));
        assert!(at_end(5, 0.0, 600.0));
        assert!(!at_end(100, 1300.0, 600.0));
    }
}
