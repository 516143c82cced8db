//! The rows that lines take: wrapped ones several, hidden ones none, all others one.
//!
//! Lines break after a fixed number of characters of one width, so the rows of a line are computed, not measured. A line that
//! isn't in the browser yet counts as one row.

/// Of a line that takes no row, not even a first one.
const HIDDEN: i32 = -1;

/// The rows of a log.
#[derive(Debug, Default)]
pub struct Rows {
    /// Characters in a row; 0 without wrapping.
    columns: usize,
    /// By line, the number of rows after its first one; [`HIDDEN`] for none at all. Lines beyond the end have none after their first.
    more: Vec<i32>,
}

impl Rows {
    /// No line is known yet. The lines in `hidden`, each from the first to the last one, take no rows.
    #[must_use]
    pub fn new(columns: usize, hidden: &[(u64, u64)]) -> Self {
        let mut rows = Self { columns, more: Vec::new() };
        for (first, last) in hidden {
            for line in *first..=*last {
                rows.put(line, HIDDEN);
            }
        }
        rows
    }

    fn put(&mut self, line: u64, more: i32) {
        if let Ok(line) = usize::try_from(line) {
            self.more.resize(self.more.len().max(line), 0);
            self.more[line - 1] = more;
        }
    }

    #[must_use]
    pub fn is_hidden(&self, line: u64) -> bool {
        let at = line.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.more.get(at)) == Some(&HIDDEN)
    }

    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Records the number of characters of `line`.
    pub fn set(&mut self, line: u64, characters: usize) {
        let more = characters.saturating_sub(1).checked_div(self.columns).unwrap_or(0);
        if more > 0 && !self.is_hidden(line) {
            self.put(line, i32::try_from(more).unwrap_or(i32::MAX));
        }
    }

    /// The number of rows of all lines before `line`.
    #[must_use]
    pub fn before(&self, line: u64) -> u64 {
        let lines = line.saturating_sub(1);
        let known = usize::try_from(lines).unwrap_or(usize::MAX).min(self.more.len());
        lines.saturating_add_signed(self.more[..known].iter().map(|more| i64::from(*more)).sum())
    }

    /// The line of a row. Lines are counted from 1, rows from 0.
    #[must_use]
    pub fn line_at(&self, row: u64) -> u64 {
        let mut rest = row;
        for (line, more) in (1..).zip(&self.more) {
            let rows = u64::try_from(i64::from(*more) + 1).unwrap_or(0);
            if rest < rows {
                return line;
            }
            rest -= rows;
        }
        self.more.len() as u64 + 1 + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_wrapping_each_line_is_one_row() {
        let mut rows = Rows::default();
        rows.set(3, 5_000);
        assert_eq!(
            (rows.before(1), rows.before(200_001), rows.line_at(0), rows.line_at(199_999)),
            (0, 200_000, 1, 200_000)
        );
    }

    #[test]
    fn a_long_line_takes_as_many_rows_as_it_needs() {
        let mut rows = Rows::new(10, &[]);
        for (line, characters) in [(1, 0), (2, 10), (3, 11), (4, 31)] {
            rows.set(line, characters);
        }
        assert_eq!([1, 2, 3, 4, 5, 6].map(|line| rows.before(line)), [0, 1, 2, 4, 8, 9]);
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 9].map(|row| rows.line_at(row)), [1, 2, 3, 3, 4, 4, 5, 6]);
    }

    #[test]
    fn hidden_lines_take_no_rows_however_long_they_are() {
        let mut rows = Rows::new(10, &[(2, 3), (3, 4), (7, 7)]);
        for line in [1, 3, 5] {
            rows.set(line, 15);
        }
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9].map(|line| rows.before(line)), [0, 2, 2, 2, 2, 4, 5, 5, 6]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|row| rows.line_at(row)), [1, 1, 5, 5, 6, 8]);
        assert_eq!([1, 2, 4, 5, 7, 8].map(|line| rows.is_hidden(line)), [false, true, true, false, true, false]);
    }

    #[test]
    fn lines_may_arrive_in_any_order() {
        let mut rows = Rows::new(10, &[]);
        rows.set(900, 25);
        assert_eq!((rows.before(900), rows.before(901)), (899, 902));
        rows.set(2, 15);
        assert_eq!((rows.before(900), rows.line_at(2)), (900, 2));
    }
}
