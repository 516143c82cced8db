//! The journal of a run: an append-only file with one record per line.
//!
//! A record is `<kind><nanoseconds> <payload>\n`. The kinds are:
//! - `t`: a line of text;
//! - `m`: a note of ours where lines are missing, as `<number of missing lines> <text>`;
//! - `e`: an event;
//! - `f`: an event that shared its upstream line with the text before it;
//! - `z`: the end, with the number of missing lines.
//!
//! Each upstream line becomes one `t`, one `e`, or a `t` and an `f`, in order. So reading the journal recovers the cursor,
//! and no second file can contradict it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use api::Time;
use api::log::{LogEnd, LogLine};
use api::run::RunEvent;
use memchr::memchr;
use memchr::memmem;

use crate::message::remove_colours;

/// The longest record, in bytes, that [`crate::scan::Scan`] and [`crate::reading`] accept.
pub(crate) const RECORD_LIMIT: usize = 2 * crate::upstream::RAW_LIMIT;

/// `ESC` as JSON.
const ESCAPED: &[u8] = br"\u001b";

/// One record, decoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Line(LogLine),
    Event(RunEvent),
    End(LogEnd),
}

/// Appends a record to `out`. `payload` must not contain a line feed: lines are cleaned and JSON is compact.
pub(crate) fn encode(out: &mut Vec<u8>, kind: u8, nanos: i64, payload: &[u8]) {
    out.push(kind);
    out.extend_from_slice(nanos.to_string().as_bytes());
    out.push(b' ');
    out.extend_from_slice(payload);
    out.push(b'\n');
}

/// Decodes a record without its line feed. `lines` is the number of lines before it.
pub(crate) fn decode(record: &[u8], lines: u64) -> Option<Record> {
    let (kind, nanos, payload) = split(record)?;
    let text =
        |payload: &[u8]| Some(LogLine { t: Time(nanos / 1_000_000), s: std::str::from_utf8(payload).ok()?.to_owned() });
    match kind {
        b't' => text(payload).map(Record::Line),
        b'm' => text(mark(payload)?.1).map(Record::Line),
        b'e' | b'f' => {
            let mut event: RunEvent = serde_json::from_slice(payload).ok()?;
            if memmem::find(payload, ESCAPED).is_some() {
                remove_colours(&mut event);
            }
            event.after = lines;
            Some(Record::Event(event))
        }
        b'z' => Some(Record::End(LogEnd { lines, missing: std::str::from_utf8(payload).ok()?.parse().ok()? })),
        _ => None,
    }
}

/// The text of a record that counts as a line, as bytes. `None` for any other record.
pub(crate) fn payload(record: &[u8]) -> Option<&[u8]> {
    let space = memchr(b' ', record)?;
    match record[0] {
        b't' => Some(&record[space + 1..]),
        b'm' => Some(mark(&record[space + 1..])?.1),
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

/// Whether the journal has its end record. Reads only the last bytes.
pub(crate) fn has_ended(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut tail = [0; 64];
    let from = length.saturating_sub(64);
    let read = file.read_at(&mut tail, from)?;
    let tail = &tail[..read];
    let Some(tail) = tail.strip_suffix(b"\n") else { return Ok(false) };
    let last = tail.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    // The record must start within these bytes. Otherwise they are the end of a long text.
    Ok((last.len() < tail.len() || length < 64) && matches!(split(last), Some((b'z', _, _))))
}

/// Kind, nanoseconds and payload of a record.
pub(crate) fn split(record: &[u8]) -> Option<(u8, i64, &[u8])> {
    let (kind, rest) = record.split_first()?;
    let space = rest.iter().position(|b| *b == b' ')?;
    let nanos = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
    Some((*kind, nanos, &rest[space + 1..]))
}

/// The number of missing lines and the text of an `m` record.
pub(crate) fn mark(payload: &[u8]) -> Option<(u64, &[u8])> {
    let space = payload.iter().position(|b| *b == b' ')?;
    Some((std::str::from_utf8(&payload[..space]).ok()?.parse().ok()?, &payload[space + 1..]))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use api::run::EventBody;

    use super::*;
    use crate::scan::Scan;

    pub(crate) fn journal(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    pub(crate) fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, b't', 1_000_000, b"one");
        encode(&mut bytes, b'e', 2_000_000, br#"{"n":4,"at":2,"body":{"step_end":{"step":1,"rc":0}}}"#);
        encode(&mut bytes, b't', 2_000_000, "zwei ü".as_bytes());
        encode(&mut bytes, b'm', 2_000_000, b"3 lines are missing here");
        bytes
    }

    #[test]
    fn the_end_is_recognised_from_the_last_bytes() {
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
    fn events_of_older_journals_have_no_colours() {
        let event = br#"{"n":4,"at":2,"body":{"host_result":{"task":1,"host":"m1","result":"failed","ms":5,"message":"a \u001b[31mERROR\u001b[0m\nb \u001b[3","item":"\\u001b[1m"}}}"#;
        let Some(Record::Event(event)) = decode(&[b"e5 ".as_slice(), event].concat(), 7) else { panic!("an event") };
        let EventBody::HostResult { message, item, .. } = event.body else { panic!("a result") };
        assert_eq!((message.as_deref(), item.as_deref()), (Some("a ERROR\nb "), Some("\\u001b[1m")));
        assert_eq!(event.after, 7);
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
}
