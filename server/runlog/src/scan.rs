//! One pass over a journal: its extent, the positions of its recaps, and positions to start reading from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use api::log::LogEnd;
use serde::de::IgnoredAny;

use crate::cursor::Cursor;
use crate::journal::{RECORD_LIMIT, mark, split};

/// The sparse index has one point per this many records.
const STRIDE: u64 = 128;

/// The extent of a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// The number of the last event.
    pub(crate) event: u64,
    pub(crate) end: Option<LogEnd>,
    /// The run was deleted, so its readers end.
    pub(crate) gone: bool,
}

/// A position to start reading from. Before byte `offset`, the journal has `lines` lines and the events up to number
/// `event`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Point {
    pub(crate) offset: u64,
    pub(crate) lines: u64,
    pub(crate) event: u64,
}

/// The result of one pass over a journal's records.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scan {
    pub(crate) extent: Extent,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) missing: u64,
    pub(crate) last_line: Option<String>,
    /// The positions of the recaps, and of what is there instead. A run has few of them, even among millions of records.
    pub(crate) recaps: Vec<Point>,
    points: Vec<Point>,
    records: u64,
}

impl Scan {
    /// Reads a journal up to its end, or up to the first bytes that are no record (torn by a crash).
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let mut scan = Self::default();
        let mut buffer = vec![0; 256 * 1024];
        let mut filled = 0;
        let mut at = 0;
        loop {
            let read = file.read_at(&mut buffer[filled..], at)?;
            filled += read;
            at += read as u64;
            let mut used = 0;
            while let Some(length) = buffer[used..filled].iter().position(|b| *b == b'\n') {
                if scan.add(&buffer[used..used + length]).is_none() {
                    return Ok(scan);
                }
                used += length + 1;
            }
            buffer.copy_within(used..filled, 0);
            filled -= used;
            if read == 0 || filled > RECORD_LIMIT {
                return Ok(scan);
            }
            if filled == buffer.len() {
                buffer.resize(buffer.len() * 2, 0);
            }
        }
    }

    /// Adds one record, given without its line feed. `None` if the bytes are no record, or come after the end.
    pub(crate) fn add(&mut self, record: &[u8]) -> Option<()> {
        let (kind, nanos, payload) = split(record)?;
        if self.extent.end.is_some() {
            return None;
        }
        let here = Point { offset: self.extent.bytes, lines: self.extent.lines, event: self.extent.event };
        if self.records.is_multiple_of(STRIDE) {
            self.points.push(here);
        }
        match kind {
            b't' => {
                self.last_line = Some(std::str::from_utf8(payload).ok()?.to_owned());
                self.extent.lines += 1;
            }
            b'm' => {
                self.missing += mark(payload)?.0;
                self.extent.lines += 1;
            }
            b'e' | b'f' => {
                let head: EventHead<'_> = serde_json::from_slice(payload).ok()?;
                self.extent.event = head.n;
                if head.body.contains_key("stats") || head.body.contains_key("given_up") {
                    self.recaps.push(here);
                }
            }
            b'z' => {
                let missing = std::str::from_utf8(payload).ok()?.parse().ok()?;
                self.extent.end = Some(LogEnd { lines: self.extent.lines, missing });
            }
            _ => return None,
        }
        if matches!(kind, b't' | b'e') {
            self.cursor = Some(Cursor::advanced(self.cursor, nanos));
        }
        self.records += 1;
        self.extent.bytes += record.len() as u64 + 1;
        Some(())
    }

    /// The last point at or before both line `line` and event `event`.
    pub(crate) fn seek(&self, line: u64, event: u64) -> Point {
        let after = self.points.partition_point(|p| p.lines < line && p.event < event);
        after.checked_sub(1).map_or_else(Point::default, |at| self.points[at])
    }
}

/// The parts of an event that a scan needs.
#[derive(serde::Deserialize)]
struct EventHead<'a> {
    n: u64,
    /// The event's only variant, by its name.
    #[serde(borrow, default)]
    body: BTreeMap<Cow<'a, str>, IgnoredAny>,
}

#[cfg(test)]
mod tests {
    use api::run::{EventBody, RunEvent};

    use super::*;
    use crate::journal::encode;
    use crate::journal::tests::{journal, sample};

    #[test]
    fn a_scan_recovers_everything_that_the_collector_needs() {
        let scan = Scan::of(&journal(&sample())).unwrap();
        assert_eq!(scan.cursor, Some(Cursor { at: 2_000_000, nth: 2 }));
        assert_eq!((scan.extent.lines, scan.extent.event, scan.missing), (3, 4, 3));
        assert_eq!(scan.extent.bytes, sample().len() as u64);
        assert_eq!(scan.last_line.as_deref(), Some("zwei ü"));
    }

    #[test]
    fn a_torn_or_broken_tail_is_not_part_of_the_journal() {
        let whole = sample();
        for tail in [&b"t300 half a li"[..], b"\0\0\0\0\n", b"x9 unknown\n", b"t9 \xff\n", b"e9 {\"n\":\n"] {
            let scan = Scan::of(&journal(&[&whole[..], tail].concat())).unwrap();
            assert_eq!(scan.extent.bytes, whole.len() as u64, "{tail:?}");
        }
    }

    #[test]
    fn every_cut_of_a_journal_is_a_journal() {
        let whole = sample();
        for length in 0..whole.len() {
            let scan = Scan::of(&journal(&whole[..length])).unwrap();
            assert!(scan.extent.bytes <= length as u64);
            assert!(scan.extent.bytes == 0 || whole[scan.extent.bytes as usize - 1] == b'\n');
        }
    }

    #[test]
    fn recaps_are_found_among_other_records() {
        let mut bytes = sample();
        let mut places = Vec::new();
        let recap = EventBody::Stats { hosts: BTreeMap::new() };
        let bodies = [recap.clone(), recap, EventBody::GivenUp { left: Vec::new(), failed: Vec::new() }];
        for (n, body) in (5..).zip(bodies) {
            places.push(bytes.len() as u64);
            let event = RunEvent { n, at: 3, after: 0, body };
            encode(&mut bytes, b'e', 3_000_000, &serde_json::to_vec(&event).unwrap());
            encode(&mut bytes, b't', 3_000_000, b"PLAY RECAP, which says \"type\":\"stats\"");
        }
        let scan = Scan::of(&journal(&bytes)).unwrap();
        assert_eq!(scan.recaps.iter().map(|point| point.offset).collect::<Vec<_>>(), places);
        assert_eq!(scan.recaps[0].lines, 3);
    }

    #[test]
    fn seeking_lands_before_the_line_and_the_event() {
        let mut scan = Scan::default();
        for i in 0..1000_u64 {
            let mut record = Vec::new();
            let event = format!("{{\"n\":{},\"at\":0,\"body\":{{\"step_end\":{{\"step\":1,\"rc\":0}}}}}}", i / 2 + 1);
            if i % 2 == 0 {
                encode(&mut record, b't', 1, b"x");
            } else {
                encode(&mut record, b'e', 1, event.as_bytes());
            }
            record.pop();
            scan.add(&record).unwrap();
        }
        assert_eq!(scan.seek(1, 1).offset, 0);
        let point = scan.seek(400, u64::MAX);
        assert!(point.lines < 400 && point.lines + STRIDE >= 400, "{point:?}");
        let both = scan.seek(400, 10);
        assert!(both.lines < 400 && both.event < 10, "{both:?}");
    }
}
