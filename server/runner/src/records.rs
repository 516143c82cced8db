//! The log format of the container runtime interface: `<time> stdout F <text>`, long lines in parts marked P.
//!
//! <https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md>

/// Longer lines are stored in parts of this size, as containerd does.
pub(crate) const PART: usize = 16 * 1024;

/// Bytes of the shortest record there is, that of an empty line: its time, `stdout F` and the spaces between, its newline.
pub(crate) const SHORTEST: u64 = 41;

/// Turns raw output into records. Bounded: a line is held back until it ends or fills a part.
pub(crate) struct Encoder {
    line: Vec<u8>,
    written: u64,
    limit: u64,
    cut: bool,
}

impl Encoder {
    /// `written` bytes of at most `limit` are in the log already.
    pub(crate) fn new(written: u64, limit: u64) -> Self {
        Self { line: Vec::new(), written, limit, cut: false }
    }

    /// The records that `output` completes. `time` is RFC 3339 with nine decimals.
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

    /// What is left when the output has ended without a newline.
    pub(crate) fn finish(&mut self, time: &str) -> Vec<u8> {
        let mut records = Vec::new();
        if !self.line.is_empty() && !self.cut {
            self.record(&mut records, time, 'F');
        }
        records
    }

    fn record(&mut self, records: &mut Vec<u8>, time: &str, tag: char) {
        let begun = records.len();
        records.extend_from_slice(format!("{time} stdout {tag} ").as_bytes());
        records.append(&mut self.line);
        records.push(b'\n');
        self.written += (records.len() - begun) as u64;
        if self.written > self.limit {
            records.truncate(begun);
            let megabytes = self.limit / (1024 * 1024);
            let sentence =
                format!("{time} stdout F The output reached {megabytes} MiB; what came after was not kept.\n");
            records.extend_from_slice(sentence.as_bytes());
            self.cut = true;
        }
    }
}

/// One stored record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// RFC 3339 with nine decimals, so that it sorts as text.
    pub(crate) time: &'a str,
    /// It ends its line.
    pub(crate) full: bool,
    pub(crate) text: &'a [u8],
}

/// Understands one record, given without its newline.
pub(crate) fn parse(record: &[u8]) -> Option<Record<'_>> {
    let mut parts = record.splitn(4, |byte| *byte == b' ');
    let time = std::str::from_utf8(parts.next()?).ok()?;
    let (_stream, tag, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Record { time, full: tag == b"F", text })
}

/// What a reader asked for, applied record by record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Earlier records are left out; same form as in the records.
    pub(crate) since: Option<String>,
    /// Put the time in front of every line.
    pub(crate) timestamps: bool,
    /// Bytes that may still be given out.
    pub(crate) limit: Option<u64>,
    in_line: bool,
}

impl Filter {
    pub(crate) fn new(since: Option<String>, timestamps: bool, limit: Option<u64>) -> Self {
        Self { since, timestamps, limit, in_line: false }
    }

    /// Gives the text of all whole records at the beginning of `stored`, and how many bytes those are.
    pub(crate) fn take(&mut self, stored: &[u8], out: &mut Vec<u8>) -> usize {
        let mut done = 0;
        while let Some(end) = stored[done..].iter().position(|byte| *byte == b'\n') {
            if let Some(record) = parse(&stored[done..done + end]) {
                self.give(&record, out);
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

    fn give(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if self.since.as_deref().is_some_and(|since| record.time < since) {
            return;
        }
        let begun = out.len();
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
            let given = (out.len() - begun).min(usize::try_from(*limit).unwrap_or(usize::MAX));
            out.truncate(begun + given);
            *limit -= given as u64;
        }
    }
}

/// Counts newlines down from the end of a block: where it goes on after the last one to count, or None if there are too few.
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
    fn what_exceeds_the_limit_is_cut_with_a_sentence_once() {
        let mut encoder = Encoder::new(0, 100);
        let stored = encoder.encode(TIME, b"one\ntwo\nthree\nfour\nfive\n");
        let text = lines(&stored, Filter::default());
        assert_eq!(text, "one\ntwo\nThe output reached 0 MiB; what came after was not kept.\n");
        assert_eq!(encoder.encode(TIME, b"six\n"), b"");
        assert_eq!(encoder.finish(TIME), b"");
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let stored = encoder().encode(TIME, b"a\xff\0b\r\n");
        let mut out = Vec::new();
        Filter::default().take(&stored, &mut out);
        assert_eq!(out, b"a\xff\0b\r\n");
    }

    #[test]
    fn readers_get_what_they_ask_for() {
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
    fn half_a_record_waits_for_its_other_half() {
        let stored = encoder().encode(TIME, b"one\ntwo\n");
        let mut out = Vec::new();
        let taken = Filter::default().take(&stored[..stored.len() - 2], &mut out);
        assert_eq!((taken, out.as_slice()), (stored.len() / 2, b"one\n".as_slice()));
    }
}
