//! How far a log has been collected, and how a new connection resumes after that point.

/// The last upstream line that was stored. Several lines may have the same timestamp, so their order counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Timestamp in nanoseconds since the Unix epoch.
    pub(crate) at: i64,
    /// The line is the n-th with this timestamp, from 1.
    pub(crate) nth: u32,
}

impl Cursor {
    /// The cursor after one more line.
    pub(crate) fn advanced(before: Option<Self>, at: i64) -> Self {
        match before {
            Some(c) if c.at == at => Self { at, nth: c.nth + 1 },
            _ => Self { at, nth: 1 },
        }
    }

    /// The second to request the log from. `sinceTime` has whole seconds: the API server truncates a fraction, but kube-rs
    /// rounds it, so a fraction of .6 would skip lines. A whole second is safe with both, and [`Resume`] drops the lines up
    /// to the cursor.
    pub(crate) fn since_second(self) -> i64 {
        self.at.div_euclid(1_000_000_000)
    }
}

/// Whether an upstream line is stored already, after a resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineAge {
    /// Already stored.
    Old,
    New,
    /// New, but the cursor's line is missing: log rotation removed it, and maybe others after it.
    NewAfterGap,
}

/// Drops the lines of a new connection up to and including the cursor's.
#[derive(Debug)]
pub(crate) struct Resume {
    seeking: Option<Cursor>,
    seen: u32,
}

impl Resume {
    pub(crate) fn after(cursor: Option<Cursor>) -> Self {
        Self { seeking: cursor, seen: 0 }
    }

    /// Whether the cursor's line hasn't come yet, so this connection has brought nothing new.
    pub(crate) fn is_seeking(&self) -> bool {
        self.seeking.is_some()
    }

    /// Compares the next line of the connection with the cursor, by its timestamp.
    pub(crate) fn age(&mut self, at: i64) -> LineAge {
        let Some(cursor) = self.seeking else { return LineAge::New };
        if at < cursor.at {
            return LineAge::Old;
        }
        if at == cursor.at {
            self.seen += 1;
            if self.seen == cursor.nth {
                self.seeking = None;
            }
            return LineAge::Old;
        }
        self.seeking = None;
        LineAge::NewAfterGap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(cursor: Cursor, stamps: &[i64]) -> Vec<LineAge> {
        let mut resume = Resume::after(Some(cursor));
        stamps.iter().map(|at| resume.age(*at)).collect()
    }

    #[test]
    fn lines_with_equal_timestamps_are_told_apart_by_their_order() {
        use LineAge::{New, Old};
        assert_eq!(ages(Cursor { at: 5, nth: 2 }, &[4, 5, 5, 5, 5, 6]), [Old, Old, Old, New, New, New]);
    }

    #[test]
    fn a_cursor_whose_line_was_rotated_away_is_a_gap() {
        use LineAge::{New, NewAfterGap};
        assert_eq!(ages(Cursor { at: 5, nth: 1 }, &[9, 9]), [NewAfterGap, New]);
    }

    #[test]
    fn a_request_never_skips_the_cursor() {
        let cursor = Cursor { at: 1_600_000_000, nth: 1 };
        assert_eq!(cursor.since_second(), 1);
        assert_eq!(Cursor::advanced(Some(cursor), 1_600_000_000).nth, 2);
        assert_eq!(Cursor::advanced(Some(cursor), 1_600_000_001).nth, 1);
    }
}
