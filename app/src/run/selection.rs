//! Lines in the URL: `#L120` and `#L120-L140`.

use serde::{Deserialize, Serialize};

/// One or several consecutive lines, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    first: u64,
    last: u64,
}

impl Selection {
    /// The lines from `a` to `b`, or from `b` to `a`.
    #[must_use]
    pub fn new(a: u64, b: u64) -> Self {
        Self { first: a.min(b).max(1), last: a.max(b).max(1) }
    }

    /// Reads a URL's fragment, with or without `#`.
    #[must_use]
    pub fn parse(fragment: &str) -> Option<Self> {
        let line = |text: &str| -> Option<u64> { text.strip_prefix('L')?.parse().ok().filter(|n| *n > 0) };
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        match fragment.split_once('-') {
            Some((a, b)) => Some(Self::new(line(a)?, line(b)?)),
            None => line(fragment).map(|n| Self::new(n, n)),
        }
    }

    /// `#L120` or `#L120-L140`.
    #[must_use]
    pub fn fragment(self) -> String {
        if self.first == self.last { format!("#L{}", self.first) } else { format!("#L{}-L{}", self.first, self.last) }
    }

    #[must_use]
    pub fn first(self) -> u64 {
        self.first
    }

    #[must_use]
    pub fn last(self) -> u64 {
        self.last
    }

    #[must_use]
    pub fn holds(self, line: u64) -> bool {
        (self.first..=self.last).contains(&line)
    }

    /// The selection after a click on a line's number. With Shift it extends from the first line of the one before.
    #[must_use]
    pub fn clicked(before: Option<Self>, line: u64, shift: bool) -> Self {
        match before.filter(|_| shift) {
            Some(before) => Self::new(before.first, line),
            None => Self::new(line, line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fragments_that_name_lines_are_read() {
        assert_eq!(Selection::parse("#L120").unwrap().fragment(), "#L120");
        assert_eq!(Selection::parse("#L140-L120").unwrap().fragment(), "#L120-L140");
        for other in ["", "#", "#main", "#L0", "#L", "#L1-", "#L1-2", "#L-1", "#L99999999999999999999999"] {
            assert_eq!(Selection::parse(other), None, "{other}");
        }
    }

    #[test]
    fn shift_extends_the_selection() {
        let one = Selection::clicked(None, 7, true);
        assert_eq!(Selection::clicked(Some(one), 3, true).fragment(), "#L3-L7");
        assert_eq!(Selection::clicked(Some(one), 9, false).fragment(), "#L9");
    }
}
