//! The newest records of a live run, in memory and shared by all its followers.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::journal::Record;
use crate::scan::Point;

/// The size of a run's tail, in bytes of its journal.
const TAIL_BYTES: u64 = 256 * 1024;

/// The records of one append.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) start: Point,
    pub(crate) end: Point,
    pub(crate) records: Vec<Record>,
}

#[derive(Debug, Default)]
pub(crate) struct Tail {
    batches: VecDeque<Arc<Batch>>,
}

impl Tail {
    pub(crate) fn push(&mut self, batch: Batch) {
        self.batches.push_back(Arc::new(batch));
        let newest = self.batches.back().map_or(0, |b| b.end.offset);
        while self.batches.front().is_some_and(|b| newest - b.start.offset > TAIL_BYTES) {
            self.batches.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.batches = VecDeque::new();
    }

    /// The batch that starts exactly at `offset`, if it is still in memory.
    pub(crate) fn at(&self, offset: u64) -> Option<Arc<Batch>> {
        let index = self.batches.binary_search_by_key(&offset, |b| b.start.offset).ok()?;
        self.batches.get(index).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_bounded_and_found_by_offset() {
        let mut tail = Tail::default();
        let at = |offset| Point { offset, ..Point::default() };
        for i in 0..100 {
            tail.push(Batch { start: at(i * 10_000), end: at((i + 1) * 10_000), records: Vec::new() });
        }
        assert!(tail.batches.len() <= 26);
        assert_eq!(tail.at(990_000).map(|b| b.end.offset), Some(1_000_000));
        assert!(tail.at(0).is_none() && tail.at(995_000).is_none());
    }
}
