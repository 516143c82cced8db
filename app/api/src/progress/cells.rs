//! The result of a task on each host: one byte per host in memory, run-length encoded on the wire: `12o1f187o`.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::run::HostResult;

/// One task on one host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Not started, or not part of the task.
    #[default]
    None,
    Running,
    Ok,
    Changed,
    /// Changed although the run has `--check`.
    Made,
    /// Would change, by a task that only checks, in a run without `--check`.
    WouldChange,
    Skipped,
    /// Failed, and `ignore_errors` let it pass.
    Ignored,
    /// Failed, and a `rescue` took over.
    Rescued,
    Failed,
    Unreachable,
    /// It was running when the run ended.
    Stopped,
}

impl Cell {
    const LETTERS: [(Self, char); 12] = [
        (Self::None, '-'),
        (Self::Running, 'r'),
        (Self::Ok, 'o'),
        (Self::Changed, 'c'),
        (Self::Made, 'm'),
        (Self::WouldChange, 'w'),
        (Self::Skipped, 's'),
        (Self::Ignored, 'i'),
        (Self::Rescued, 'e'),
        (Self::Failed, 'f'),
        (Self::Unreachable, 'u'),
        (Self::Stopped, 'x'),
    ];

    fn letter(self) -> char {
        Self::LETTERS.iter().find(|(cell, _)| *cell == self).map_or('-', |(_, letter)| *letter)
    }

    fn of_letter(letter: char) -> Option<Self> {
        Self::LETTERS.iter().find(|(_, l)| *l == letter).map(|(cell, _)| *cell)
    }

    /// The cell that a result fills.
    #[must_use]
    pub fn of(result: HostResult, ignored: bool) -> Self {
        match result {
            HostResult::Failed | HostResult::Unreachable if ignored => Self::Ignored,
            HostResult::Ok => Self::Ok,
            HostResult::Changed => Self::Changed,
            HostResult::Made => Self::Made,
            HostResult::WouldChange => Self::WouldChange,
            HostResult::Skipped => Self::Skipped,
            HostResult::Rescued => Self::Rescued,
            HostResult::Failed => Self::Failed,
            HostResult::Unreachable => Self::Unreachable,
        }
    }

    /// The word that pages show; empty for [`Cell::None`].
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Changed => "changed",
            Self::Made => "really changed",
            Self::WouldChange => "would change",
            Self::Skipped => "skipped",
            Self::Ignored => "failed, ignored",
            Self::Rescued => "failed, rescued",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Stopped => "stopped",
        }
    }
}

/// A task's cells, in the order of [`super::RunProgress::hosts`]. Missing cells at the end count as [`Cell::None`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells(Vec<Cell>);

impl Cells {
    /// The cell of the host at this position.
    #[must_use]
    pub fn get(&self, host: usize) -> Cell {
        self.0.get(host).copied().unwrap_or_default()
    }

    /// Sets a cell and returns its previous value.
    pub fn set(&mut self, host: usize, cell: Cell) -> Cell {
        if self.0.len() <= host {
            self.0.resize(host + 1, Cell::None);
        }
        std::mem::replace(&mut self.0[host], cell)
    }

    /// Positions that hold `cell`.
    pub fn at(&self, cell: Cell) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(move |(_, c)| **c == cell).map(|(at, _)| at)
    }

    /// Runs of equal cells: the cell, the position of the first one, and their number.
    pub fn runs(&self) -> impl Iterator<Item = (Cell, usize, usize)> {
        let mut at = 0;
        self.0.chunk_by(PartialEq::eq).map(move |run| {
            let start = at;
            at += run.len();
            (run[0], start, run.len())
        })
    }
}

/// Maximum number of hosts of a run. A larger number in serialized cells is an error.
pub(super) const MAX_HOSTS: usize = 100_000;

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for (cell, _, count) in self.runs() {
            let _ = write!(text, "{count}{}", cell.letter());
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut cells = Vec::new();
        let mut count = 0_usize;
        for c in text.chars() {
            if let Some(digit) = c.to_digit(10) {
                count = count * 10 + digit as usize;
            } else {
                let cell = Cell::of_letter(c).ok_or_else(|| D::Error::custom("unknown cell"))?;
                cells.extend(std::iter::repeat_n(cell, count.min(MAX_HOSTS)));
                count = 0;
            }
            if count > MAX_HOSTS || cells.len() > MAX_HOSTS {
                return Err(D::Error::custom("too many cells"));
            }
        }
        Ok(Self(cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_serialized_as_run_lengths() {
        let mut cells = Cells::default();
        for host in 0..200 {
            cells.set(host, Cell::Ok);
        }
        cells.set(12, Cell::Failed);
        let text = serde_json::to_string(&cells).unwrap();
        assert_eq!(text, r#""12o1f187o""#);
        assert_eq!(serde_json::from_str::<Cells>(&text).unwrap(), cells);
    }

    #[test]
    fn an_invalid_encoding_is_refused_and_not_expanded() {
        for bad in ["\"3?\"", "\"999999999o\"", "\"100000o100000o\""] {
            assert!(serde_json::from_str::<Cells>(bad).is_err(), "{bad}");
        }
    }
}
