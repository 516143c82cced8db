//! The journal of a run: one append-only file, one record a line.
//!
//! `t` text line, `m` a mark of ours where lines are missing, `e` event, `f` event that shared its upstream line with the
//! text before it, `z` the end. Each record is `<kind><nanoseconds> <payload>\n`. Every upstream line becomes one `t` or
//! `e` (or `t` and `f`), in order, so the cursor is recovered by reading: there is no second file that could disagree.

use std::{borrow::Cow, collections::BTreeMap, fs::File, io, os::unix::fs::FileExt};

use api::{
    Time,
    log::{LogEnd, LogLine},
    run::RunEvent,
};

use serde::de::IgnoredAny;

use crate::cursor::Cursor;

/// A point of the sparse index every so many records.
const STRIDE: u64 = 128;

/// Longest record that [`Scan`] and [`crate::reading`] accept.
pub(crate) const RECORD_LIMIT: usize = 2 * crate::upstream::RAW_LIMIT;

/// One record, decoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Line(LogLine),
    Event(RunEvent),
    End(LogEnd),
}

/// How far a journal reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Number of the last event.
    pub(crate) event: u64,
    pub(crate) end: Option<LogEnd>,
    /// The run was forgotten: readers end.
    pub(crate) gone: bool,
}

/// A place to start reading: everything before `offset` has `lines` lines and events up to number `event`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Point {
    pub(crate) offset: u64,
    pub(crate) lines: u64,
    pub(crate) event: u64,
}

/// What one pass over a journal's records tells.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scan {
    pub(crate) extent: Extent,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) missing: u64,
    pub(crate) last_line: Option<String>,
    /// Where the recaps begin: a few in a run of millions of records.
    pub(crate) recaps: Vec<Point>,
    points: Vec<Point>,
    records: u64,
}

impl Scan {
    /// Reads a journal to its end or to the first byte that is no record (a torn tail after a crash).
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

    /// Counts one more record (without its line feed); None where it is none.
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
                if head.body.contains_key("stats") {
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

/// Appends a record to `out`. `payload` has no line feed: lines are cleaned and JSON is compact.
pub(crate) fn encode(out: &mut Vec<u8>, kind: u8, nanos: i64, payload: &[u8]) {
    out.push(kind);
    out.extend_from_slice(nanos.to_string().as_bytes());
    out.push(b' ');
    out.extend_from_slice(payload);
    out.push(b'\n');
}

/// Decodes a record (without its line feed); `lines` says how many lines stand before it.
pub(crate) fn decode(record: &[u8], lines: u64) -> Option<Record> {
    let (kind, nanos, payload) = split(record)?;
    let text =
        |payload: &[u8]| Some(LogLine { t: Time(nanos / 1_000_000), s: std::str::from_utf8(payload).ok()?.to_owned() });
    match kind {
        b't' => text(payload).map(Record::Line),
        b'm' => text(mark(payload)?.1).map(Record::Line),
        b'e' | b'f' => {
            let mut event: RunEvent = serde_json::from_slice(payload).ok()?;
            event.after = lines;
            Some(Record::Event(event))
        }
        b'z' => Some(Record::End(LogEnd { lines, missing: std::str::from_utf8(payload).ok()?.parse().ok()? })),
        _ => None,
    }
}

/// Whether a record is an event, without decoding it.
pub(crate) fn is_event(record: &[u8]) -> bool {
    matches!(record.first(), Some(b'e' | b'f'))
}

/// Whether a record counts as a line.
pub(crate) fn is_line(record: &[u8]) -> bool {
    matches!(record.first(), Some(b't' | b'm'))
}

/// Whether the journal has its end record, told from its last bytes.
pub(crate) fn has_ended(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut tail = [0; 64];
    let from = length.saturating_sub(64);
    let read = file.read_at(&mut tail, from)?;
    let tail = &tail[..read];
    let Some(tail) = tail.strip_suffix(b"\n") else { return Ok(false) };
    let last = tail.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    // The line must have begun inside these bytes, else it is the middle of a text.
    Ok((last.len() < tail.len() || length < 64) && matches!(split(last), Some((b'z', _, _))))
}

fn split(record: &[u8]) -> Option<(u8, i64, &[u8])> {
    let (kind, rest) = record.split_first()?;
    let space = rest.iter().position(|b| *b == b' ')?;
    let nanos = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
    Some((*kind, nanos, &rest[space + 1..]))
}

/// `<missing> <text>` of a mark.
fn mark(payload: &[u8]) -> Option<(u64, &[u8])> {
    let space = payload.iter().position(|b| *b == b' ')?;
    Some((std::str::from_utf8(&payload[..space]).ok()?.parse().ok()?, &payload[space + 1..]))
}

/// What a scan looks at in an event.
#[derive(serde::Deserialize)]
struct EventHead<'a> {
    n: u64,
    /// The one variant of the event, by its name.
    #[serde(borrow, default)]
    body: BTreeMap<Cow<'a, str>, IgnoredAny>,
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use api::run::EventBody;

    use super::*;

    fn journal(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, b't', 1_000_000, b"one");
        encode(&mut bytes, b'e', 2_000_000, br#"{"n":4,"at":2,"body":{"step_end":{"step":1,"rc":0}}}"#);
        encode(&mut bytes, b't', 2_000_000, "zwei ü".as_bytes());
        encode(&mut bytes, b'm', 2_000_000, b"3 lines are missing here");
        bytes
    }

    #[test]
    fn a_scan_recovers_everything_that_collecting_needs() {
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
    fn the_end_is_told_from_the_last_bytes() {
        let mut bytes = sample();
        assert!(!has_ended(&journal(&bytes)).unwrap());
        encode(&mut bytes, b't', 5, format!("{}\u{20}z5 0", "x".repeat(100)).as_bytes());
        assert!(!has_ended(&journal(&bytes)).unwrap());
        encode(&mut bytes, b'z', 5, b"2");
        assert!(has_ended(&journal(&bytes)).unwrap());
        assert_eq!(Scan::of(&journal(&bytes)).unwrap().extent.end, Some(LogEnd { lines: 4, missing: 2 }));
        assert!(!has_ended(&journal(b"")).unwrap());
    }

    #[test]
    fn records_decode_to_what_pages_show() {
        let bytes = sample();
        let records: Vec<_> = bytes.split(|b| *b == b'\n').filter(|r| !r.is_empty()).collect();
        assert_eq!(decode(records[0], 0), Some(Record::Line(LogLine { t: Time(1), s: "one".into() })));
        assert!(matches!(decode(records[1], 1), Some(Record::Event(e)) if e.n == 4 && e.after == 1));
        assert_eq!(
            decode(records[3], 2),
            Some(Record::Line(LogLine { t: Time(2), s: "lines are missing here".into() }))
        );
    }

    #[test]
    fn recaps_are_found_without_reading_everything_else() {
        let mut bytes = sample();
        let mut places = Vec::new();
        for n in 5..8 {
            places.push(bytes.len() as u64);
            let event = RunEvent { n, at: 3, after: 0, body: EventBody::Stats { hosts: BTreeMap::new() } };
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
