//! The lines that are in the browser: any parts of the log, in blocks, found by line number.

use std::collections::BTreeMap;

use api::log::{LogEnd, LogLine, LogPage};

use super::ansi;
use super::wrapping::Rows;

/// The number of lines in a block, and in a request for missing lines.
pub const BLOCK: u64 = 500;

/// The most blocks that are kept; those farthest from the screen are dropped first. 200,000 lines of ansible are about 30 MB.
const MOST_BLOCKS: usize = 400;

/// The longest line, in characters, for which the log grows wider.
const WIDEST: usize = 4_000;

/// A log, of which some lines are here.
#[derive(Debug, Default)]
pub struct LogStore {
    blocks: BTreeMap<u64, Vec<Option<LogLine>>>,
    /// The line on screen; `None` while the newest line is.
    near: Option<u64>,
    /// The number of lines that are known to exist.
    total: u64,
    end: Option<LogEnd>,
    widest: usize,
    hidden: Vec<(u64, u64)>,
    rows: Rows,
}

impl LogStore {
    /// The lines of a page from the server.
    #[must_use]
    pub fn of(page: LogPage) -> Self {
        let mut store = Self::default();
        store.take(page);
        store
    }

    /// The number of lines that are known to exist, here or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The end of the log, once it is known.
    #[must_use]
    pub fn end(&self) -> Option<LogEnd> {
        self.end
    }

    /// The longest line so far, in characters.
    #[must_use]
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// A line, if it is here.
    #[must_use]
    pub fn get(&self, line: u64) -> Option<&LogLine> {
        let (block, at) = place(line)?;
        self.blocks.get(&block)?.get(at)?.as_ref()
    }

    /// Where the lines are, in rows.
    #[must_use]
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Breaks lines after this many characters; 0: not at all. Returns whether this is a change.
    pub fn wrap(&mut self, columns: usize) -> bool {
        if columns == self.rows.columns() {
            return false;
        }
        self.count_rows(columns);
        true
    }

    /// Shows no rows for these lines, each from the first to the last one, and again rows for all others. Returns whether this is a
    /// change.
    pub fn hide(&mut self, hidden: Vec<(u64, u64)>) -> bool {
        let changes = hidden != self.hidden;
        if changes {
            self.hidden = hidden;
            self.count_rows(self.rows.columns());
        }
        changes
    }

    /// The next line after this one that takes a row.
    #[must_use]
    pub fn visible_after(&self, line: u64) -> u64 {
        (line + 1..).find(|line| !self.rows.is_hidden(*line)).unwrap_or(line)
    }

    fn count_rows(&mut self, columns: usize) {
        self.rows = Rows::new(columns, &self.hidden);
        if columns == 0 {
            return;
        }
        for (block, lines) in &self.blocks {
            for (line, text) in (block * BLOCK + 1..).zip(lines) {
                self.rows.set(line, text.as_ref().map_or(0, |text| ansi::width(&text.s)));
            }
        }
    }

    /// Adds a page.
    pub fn take(&mut self, page: LogPage) {
        self.total = self.total.max(page.total);
        self.end = page.end.or(self.end);
        self.insert(page.first, page.lines);
    }

    /// Adds consecutive lines. Lines that are here already are kept, because lines never change.
    pub fn insert(&mut self, first: u64, lines: Vec<LogLine>) {
        for (line, text) in (first.max(1)..).zip(lines) {
            let Some((block, at)) = place(line) else { continue };
            self.total = self.total.max(line);
            let width = ansi::width(&text.s);
            self.widest = self.widest.max(width.min(WIDEST));
            self.rows.set(line, width);
            let block = self.blocks.entry(block).or_default();
            if block.len() <= at {
                block.resize(at + 1, None);
            }
            block[at].get_or_insert(text);
        }
    }

    /// Records the end of the log.
    pub fn finish(&mut self, end: LogEnd) {
        self.total = self.total.max(end.lines);
        self.end = Some(end);
    }

    /// The first lines of the requests that load what is missing in `first..end`. Hidden lines aren't missing.
    #[must_use]
    pub fn missing(&self, first: u64, end: u64) -> Vec<u64> {
        let end = end.min(self.total + 1);
        let mut wanted = Vec::new();
        let mut line = first.max(1);
        while line < end {
            let block = (line - 1) / BLOCK;
            let block_end = (block + 1) * BLOCK + 1;
            if (line..end.min(block_end)).any(|line| self.get(line).is_none() && !self.rows.is_hidden(line)) {
                wanted.push(block * BLOCK + 1);
            }
            line = block_end;
        }
        wanted
    }

    /// Records which line is on screen; `None` stands for the newest one.
    pub fn look_at(&mut self, line: Option<u64>) {
        self.near = line;
    }

    /// Drops the blocks that are farthest from the line on screen.
    pub fn trim(&mut self) {
        let here = self.near.unwrap_or(self.total).saturating_sub(1) / BLOCK;
        while self.blocks.len() > MOST_BLOCKS {
            let (Some((first, _)), Some((last, _))) = (self.blocks.first_key_value(), self.blocks.last_key_value())
            else {
                return;
            };
            let farthest = if here.abs_diff(*first) >= here.abs_diff(*last) { *first } else { *last };
            self.blocks.remove(&farthest);
        }
    }
}

/// The block of a line and its index there; `None` for line 0, which doesn't exist.
fn place(line: u64) -> Option<(u64, usize)> {
    let index = line.checked_sub(1)?;
    Some((index / BLOCK, usize::try_from(index % BLOCK).ok()?))
}

#[cfg(test)]
mod tests {
    use api::Time;

    use super::*;

    fn lines(first: u64, count: u64) -> Vec<LogLine> {
        (first..first + count).map(|n| LogLine { t: Time(0), s: format!("line {n}") }).collect()
    }

    #[test]
    fn lines_are_found_by_number_wherever_they_come_from() {
        let mut store = LogStore::of(LogPage { first: 9_801, lines: lines(9_801, 200), total: 10_000, end: None });
        store.insert(10_001, lines(10_001, 3));
        assert_eq!(store.get(10_002).unwrap().s, "line 10002");
        assert_eq!(store.get(9_801).unwrap().s, "line 9801");
        assert_eq!(store.get(9_800), None);
        assert_eq!(store.total(), 10_003);
    }

    #[test]
    fn a_line_that_comes_again_changes_nothing() {
        let mut store = LogStore::of(LogPage { first: 1, lines: lines(1, 10), total: 10, end: None });
        store.insert(8, lines(8, 5));
        assert_eq!(store.total(), 12);
        assert!((1..=12).all(|n| store.get(n).unwrap().s == format!("line {n}")));
    }

    #[test]
    fn only_blocks_with_holes_on_screen_are_requested() {
        let mut store = LogStore::of(LogPage { first: 1_801, lines: lines(1_801, 200), total: 2_000, end: None });
        assert_eq!(store.missing(1_810, 1_900), Vec::<u64>::new());
        assert_eq!(store.missing(1_790, 1_850), [1_501]);
        assert_eq!(store.missing(1, 1_001), [1, 501]);
        assert_eq!(store.missing(1_990, 9_000), Vec::<u64>::new(), "there is nothing after the last line");
        store.insert(1_501, lines(1_501, 300));
        assert_eq!(store.missing(1_501, 2_001), Vec::<u64>::new());
    }

    #[test]
    fn wrapping_counts_the_rows_of_lines_that_are_here() {
        let long = LogLine { t: Time(0), s: format!("\u{1b}[0;31m{}\u{1b}[0m", "x".repeat(25)) };
        let mut store = LogStore::of(LogPage { first: 1, lines: vec![long.clone()], total: 10, end: None });
        assert!(store.wrap(10), "a change");
        assert!(!store.wrap(10), "no change");
        assert_eq!(store.rows().before(11), 12, "colours take no room");
        store.insert(5, vec![long]);
        assert_eq!(store.rows().before(11), 14);
        assert!(store.wrap(0));
        assert_eq!(store.rows().before(11), 10);
    }

    #[test]
    fn hidden_lines_are_not_requested_and_keep_their_height() {
        let mut store = LogStore::of(LogPage { first: 1, lines: lines(1, 10), total: 2_000, end: None });
        store.wrap(5);
        let before = store.rows().before(2_001);
        assert!(store.hide(vec![(3, 1_400), (1_501, 1_999)]));
        assert!(!store.hide(vec![(3, 1_400), (1_501, 1_999)]), "no change");
        assert_eq!([1, 2, 1_450].map(|line| store.visible_after(line)), [2, 1_401, 1_451]);
        assert_eq!(store.missing(1, 2_001), [1_001, 1_501]);
        assert_eq!(store.rows().line_at(store.rows().before(3)), 1_401);
        assert!(store.hide(Vec::new()));
        assert_eq!((store.rows().before(2_001), store.missing(1, 2_001)), (before, vec![1, 501, 1_001, 1_501]));
    }

    #[test]
    fn memory_is_bounded_and_what_is_on_screen_stays() {
        let mut store = LogStore::default();
        store.insert(1, lines(1, 250_000));
        store.trim();
        assert!(store.get(250_000).is_some());
        assert!(store.get(1).is_none());
        assert_eq!(store.total(), 250_000);
        assert_eq!(store.missing(1, 10), [1]);
        store.look_at(Some(60_000));
        store.insert(250_001, lines(250_001, 1_000));
        store.trim();
        assert!(store.get(60_000).is_some(), "what is on screen is kept while lines are added at the end");
        assert!(store.get(251_000).is_none());
        assert!(store.blocks.len() <= MOST_BLOCKS);
    }
}
