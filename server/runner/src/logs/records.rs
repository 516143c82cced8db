//! The log format of the container runtime interface: `<time> stdout F <text>`. A long line is stored in parts, with P instead of F in
//! all but the last.
//!
//! <https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md>

/// Bytes of a part. Longer lines are stored in several parts, as containerd does.
const PART: usize = 16 * 1024;

/// Bytes of the shortest record, that of an empty line: time, ` stdout F ` and newline.
pub(crate) const SHORTEST: u64 = 41;

/// Turns raw output into records. Buffers a line until it ends or fills a part.
pub(crate) struct Encoder {
    line: Vec<u8>,
    written: u64,
    limit: u64,
    cut: bool,
}

impl Encoder {
    /// For a log that already has `written` bytes and may have `limit`.
    pub(crate) fn new(written: u64, limit: u64) -> Self {
        Self { line: Vec::new(), written, limit, cut: false }
    }

    /// Returns the records that `output` completes. `time` is RFC 3339 with nine decimals.
    pub(crate) fn encode(&mut self, time: &str, output: &[u8]) -> Vec<u8> {
        let mut records = Vec::with_capacity(output.len() + output.len() / 2);
        let mut rest = output;
        while !rest.is_empty() && !self.cut {
            let room = &rest[..rest.len().min(PART - self.line.len())];
            if let Some(end) = room.iter().position(|byte| *byte == b'\n') {
                self.line.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                self.record(&mut records, time, 'F');
            } else {
                self.line.extend_from_slice(room);
                rest = &rest[room.len()..];
                if self.line.len() == PART {
                    self.record(&mut records, time, 'P');
                }
            }
        }
        records
    }

    /// Returns the last record, if the output has ended without a newline.
    pub(crate) fn finish(&mut self, time: &str) -> Vec<u8> {
        let mut records = Vec::new();
        if !self.line.is_empty() && !self.cut {
            self.record(&mut records, time, 'F');
        }
        records
    }

    fn record(&mut self, records: &mut Vec<u8>, time: &str, tag: char) {
        let start = records.len();
        records.extend_from_slice(format!("{time} stdout {tag} ").as_bytes());
        records.append(&mut self.line);
        records.push(b'\n');
        self.written += (records.len() - start) as u64;
        if self.written > self.limit {
            records.truncate(start);
            let megabytes = self.limit / (1024 * 1024);
            let notice = format!("{time} stdout F The output reached {megabytes} MiB; the rest was not kept.\n");
            records.extend_from_slice(notice.as_bytes());
            self.cut = true;
        }
    }
}

/// One stored record.
#[derive(Debug, PartialEq, Eq)]
struct Record<'a> {
    /// RFC 3339 with nine decimals, so it can be compared as text.
    time: &'a str,
    /// The record ends its line.
    full: bool,
    text: &'a [u8],
}

/// Parses one record, without its newline.
fn parse(record: &[u8]) -> Option<Record<'_>> {
    let mut parts = record.splitn(4, |byte| *byte == b' ');
    let time = std::str::from_utf8(parts.next()?).ok()?;
    let (_stream, tag, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Record { time, full: tag == b"F", text })
}

/// The options of a log request, applied record by record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Earlier records are skipped. In the same format as in the records.
    since: Option<String>,
    /// Put the time in front of every line.
    timestamps: bool,
    /// Bytes that may still be returned.
    limit: Option<u64>,
    in_line: bool,
}

impl Filter {
    pub(crate) fn new(since: Option<String>, timestamps: bool, limit: Option<u64>) -> Self {
        Self { since, timestamps, limit, in_line: false }
    }

    /// Appends the text of the complete records at the start of `stored` to `out`. Returns how many bytes of `stored` that took.
    pub(crate) fn take(&mut self, stored: &[u8], out: &mut Vec<u8>) -> usize {
        let mut done = 0;
        while let Some(end) = stored[done..].iter().position(|byte| *byte == b'\n') {
            if let Some(record) = parse(&stored[done..done + end]) {
                self.append(&record, out);
            }
            done += end + 1;
            if self.is_exhausted() {
                break;
            }
        }
        done
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.limit == Some(0)
    }

    fn append(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if self.since.as_deref().is_some_and(|since| record.time < since) {
            return;
        }
        let start = out.len();
        if self.timestamps && !self.in_line {
            out.extend_from_slice(record.time.as_bytes());
            out.push(b' ');
        }
        out.extend_from_slice(record.text);
        if record.full {
            out.push(b'\n');
        }
        self.in_line = !record.full;
        if let Some(limit) = &mut self.limit {
            let kept = (out.len() - start).min(usize::try_from(*limit).unwrap_or(usize::MAX));
            out.truncate(start + kept);
            *limit -= kept as u64;
        }
    }
}

/// Counts `left` newlines down from the end of `block`. Returns the position after the last one counted, or `None` if there are too few.
pub(crate) fn after_last_newlines(block: &[u8], left: &mut u64) -> Option<usize> {
    for at in (0..block.len()).rev().filter(|at| block[*at] == b'\n') {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "2026-11-21T07:00:00.100000000Z";

    fn encoder() -> Encoder {
        Encoder::new(0, u64::MAX)
    }

    fn lines(stored: &[u8], mut filter: Filter) -> String {
        let mut out = Vec::new();
        filter.take(stored, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_is_stored_when_it_ends() {
        let mut encoder = encoder();
        assert_eq!(encoder.encode(TIME, b"one\ntw"), format!("{TIME} stdout F one\n").into_bytes());
        assert_eq!(encoder.encode(TIME, b"o\n"), format!("{TIME} stdout F two\n").into_bytes());
        let empty = encoder.encode(TIME, b"\n");
        assert_eq!(empty, format!("{TIME} stdout F \n").into_bytes());
        assert_eq!(empty.len() as u64, SHORTEST);
        assert_eq!(encoder.encode(TIME, b"end"), b"");
        assert_eq!(encoder.finish(TIME), format!("{TIME} stdout F end\n").into_bytes());
        assert_eq!(encoder.finish(TIME), b"");
    }

    #[test]
    fn a_long_line_is_stored_in_parts_and_read_as_one() {
        let line = "x".repeat(PART * 2 + 5);
        let stored = encoder().encode(TIME, format!("{line}\nnext\n").as_bytes());
        let tags: Vec<_> = stored.split(|b| *b == b'\n').filter_map(parse).map(|r| (r.full, r.text.len())).collect();
        assert_eq!(tags, [(false, PART), (false, PART), (true, 5), (true, 4)]);
        assert_eq!(lines(&stored, Filter::default()), format!("{line}\nnext\n"));
        assert_eq!(lines(&stored, Filter::new(None, true, None)), format!("{TIME} {line}\n{TIME} next\n"));
    }

    #[test]
    fn output_beyond_the_limit_is_dropped_with_one_notice() {
        let mut encoder = Encoder::new(0, 100);
        let stored = encoder.encode(TIME, b"one\ntwo\nthree\nfour\nfive\n");
        let text = lines(&stored, Filter::default());
        assert_eq!(text, "one\ntwo\nThe output reached 0 MiB; the rest was not kept.\n");
        assert_eq!(encoder.encode(TIME, b"six\n"), b"");
        assert_eq!(encoder.finish(TIME), b"");
    }

    #[test]
    fn bytes_that_are_not_text_are_kept() {
        let stored = encoder().encode(TIME, b"a\xff\0b\r\n");
        let mut out = Vec::new();
        Filter::default().take(&stored, &mut out);
        assert_eq!(out, b"a\xff\0b\r\n");
    }

    #[test]
    fn since_timestamps_limit_and_tail_are_applied() {
        let later = "2026-11-21T07:00:01.000000000Z";
        let mut stored = encoder().encode(TIME, b"one\ntwo\n");
        stored.extend(encoder().encode(later, b"three\n"));
        assert_eq!(lines(&stored, Filter::new(Some(later.into()), false, None)), "three\n");
        assert_eq!(lines(&stored, Filter::new(None, true, Some(33))), format!("{TIME} on"));
        assert_eq!(lines(&stored, Filter::new(None, false, Some(6))), "one\ntw");
        let two = after_last_newlines(&stored, &mut 3).unwrap();
        assert_eq!(lines(&stored[two..], Filter::default()), "two\nthree\n");
        assert_eq!(after_last_newlines(&stored, &mut 1), Some(stored.len()));
        let mut left = 9;
        assert_eq!((after_last_newlines(&stored, &mut left), left), (None, 6));
    }

    #[test]
    fn an_incomplete_record_is_left_for_the_next_read() {
        let stored = encoder().encode(TIME, b"one\ntwo\n");
        let mut out = Vec::new();
        let taken = Filter::default().take(&stored[..stored.len() - 2], &mut out);
        assert_eq!((taken, out.as_slice()), (stored.len() / 2, b"one\n".as_slice()));
    }
}
