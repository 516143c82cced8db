//! Computes which lines of a long log are on screen, from a fixed row height and the rows of wrapped lines.

use super::wrapping::Rows;
use crate::words::whole;

/// The height of a row in CSS pixels. `--log-row` in `style/50-run.css` must have the same value.
pub const ROW: f64 = 20.0;

/// The largest height of the content, in pixels. Browsers support some 17 to 33 million; for longer logs the scroll position
/// is scaled.
const TALLEST: f64 = 12_000_000.0;

/// Rows above and below the screen that are kept in the document, so that a quick scroll shows no gaps.
const MARGIN: u64 = 25;

/// The lines that are in the document, and their place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Window {
    /// First line, from 1.
    pub first: u64,
    /// One past the last line.
    pub end: u64,
    /// The first line on screen.
    pub top: u64,
    /// Distance of the first line from the top of the content.
    pub offset: f64,
    /// Height of the content.
    pub height: f64,
}

/// The height of `rows` rows in pixels, at most [`TALLEST`].
#[must_use]
pub fn height(rows: u64) -> f64 {
    (float(rows) * ROW).min(TALLEST)
}

#[expect(clippy::cast_precision_loss, reason = "rows are far below 2^53")]
fn float(rows: u64) -> f64 {
    rows as f64
}

/// A length for CSS, with two decimals. `{:.2}` would add 15 KB of wasm.
pub fn px(length: f64) -> String {
    let hundredths = whole((length * 100.0).round());
    format!("{}.{:02}px", hundredths / 100, hundredths % 100)
}

/// The row at the top of the screen, with its hidden part as a fraction. Of logs with the largest height, the scroll bar's full
/// range stands for all rows.
fn row_at(rows: u64, scroll: f64, viewport: f64) -> f64 {
    let height = height(rows);
    if height < TALLEST { scroll / ROW } else { scroll / (height - viewport) * (float(rows) - viewport / ROW) }
}

/// The reverse of [`row_at`]. Of the last rows, it is beyond the end of the scroll bar.
#[must_use]
pub fn scroll_of(rows: u64, row: u64, viewport: f64) -> f64 {
    let height = height(rows);
    if height < TALLEST { float(row) * ROW } else { float(row) / (float(rows) - viewport / ROW) * (height - viewport) }
}

/// The window at a scroll position of a log of so many lines.
#[must_use]
pub fn at(lines: u64, rows: &Rows, scroll: f64, viewport: f64) -> Window {
    let all = rows.before(lines + 1);
    let height = height(all);
    let scroll = scroll.max(0.0).min((height - viewport).max(0.0));
    let exact = row_at(all, scroll, viewport);
    let top = whole(exact);
    let first = rows.line_at(top.saturating_sub(MARGIN));
    let last = (top + whole((viewport / ROW).ceil()) + MARGIN).min(all.saturating_sub(1));
    let above = (exact - float(rows.before(first))) * ROW;
    Window {
        first,
        end: rows.line_at(last).min(lines) + 1,
        top: rows.line_at(top),
        offset: (scroll - above).max(0.0),
        height,
    }
}

/// The scroll position that shows the beginning of `line` in the upper third.
#[must_use]
pub fn scroll_to(lines: u64, rows: &Rows, line: u64, viewport: f64) -> f64 {
    let (all, row) = (rows.before(lines + 1), rows.before(line.min(lines.max(1)).max(1)));
    let scroll = scroll_of(all, row.saturating_sub(whole(viewport / ROW / 3.0)), viewport);
    scroll.min(height(all) - viewport).max(0.0)
}

/// The scroll position that shows the beginning of `line`; `None` if it is on screen already.
#[must_use]
pub fn reveal(lines: u64, rows: &Rows, line: u64, scroll: f64, viewport: f64) -> Option<f64> {
    let top = whole(row_at(rows.before(lines + 1), scroll, viewport));
    let row = rows.before(line);
    let is_shown = top <= row && row < top + whole(viewport / ROW).max(1);
    (!is_shown).then(|| scroll_to(lines, rows, line, viewport))
}

/// Whether the newest line is on screen, with a tolerance of one and a half rows.
#[must_use]
pub fn at_end(rows: u64, scroll: f64, viewport: f64) -> bool {
    scroll + viewport >= height(rows) - 1.5 * ROW
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lines: u64, scroll: f64, viewport: f64) -> Window {
        super::at(lines, &Rows::default(), scroll, viewport)
    }

    fn scroll_to(lines: u64, line: u64, viewport: f64) -> f64 {
        super::scroll_to(lines, &Rows::default(), line, viewport)
    }

    fn reveal(lines: u64, line: u64, scroll: f64, viewport: f64) -> Option<f64> {
        super::reveal(lines, &Rows::default(), line, scroll, viewport)
    }

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
        let bottom = w.offset + float(w.end - w.first) * ROW;
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
    fn a_wrapped_line_is_scrolled_through_row_by_row() {
        // Line 50 takes 40 rows, more than the screen.
        let mut rows = Rows::new(10, &[]);
        rows.set(50, 400);
        for row in 49..89 {
            let w = super::at(100, &rows, float(row) * ROW, 600.0);
            assert_eq!((w.top, w.first <= 50, w.end > 50), (50, true, true), "row {row}");
            let first_row = float(rows.before(w.first)) * ROW;
            assert!((w.offset - first_row).abs() < 1e-6, "each line is where its rows are: {w:?}");
        }
        assert_eq!(super::at(100, &rows, 89.0 * ROW, 600.0).top, 51);
        assert!((super::scroll_of(139, rows.before(51), 600.0) - 89.0 * ROW).abs() < 1e-6);
        assert_eq!(super::at(100, &rows, 1e9, 600.0).end, 101);
        assert_eq!(super::reveal(100, &rows, 51, 70.0 * ROW, 600.0), None, "row 89 of the rows 70 to 99");
        assert!(super::reveal(100, &rows, 51, 40.0 * ROW, 600.0).is_some());
    }

    #[test]
    fn following_means_being_at_the_end() {
        assert!(at_end(100, 1400.0, 600.0));
        assert!(at_end(5, 0.0, 600.0));
        assert!(!at_end(100, 1300.0, 600.0));
    }
}
