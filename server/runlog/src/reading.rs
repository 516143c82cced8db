//! Reads a journal: pages, events, portions for followers, and the whole text.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use api::log::{LogLine, LogPage};
use api::run::{HostStats, RunEvent};
use memchr::memchr;

use crate::journal::{self, RECORD_LIMIT, Record};
use crate::run::StoredRun;
use crate::scan::{Extent, Point};

/// The most lines that one page has.
const PAGE_LINES: u32 = 10_000;
/// The most bytes of text that one page has, apart from its last line.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Calls `each` with every record from `point` on, and moves `point` along. Stops at byte `until` of the journal, after
/// about `budget` bytes, or when `each` breaks; the record at which it broke counts as read. Blocking.
pub(crate) fn walk(
    file: &File,
    point: &mut Point,
    until: u64,
    budget: usize,
    mut each: impl FnMut(&[u8], &Point) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut size = budget.min(256 * 1024);
    let (mut left, mut memory) = (budget, Vec::new());
    while point.offset < until && left > 0 {
        let length = usize::try_from(until - point.offset).unwrap_or(usize::MAX).min(size);
        memory.resize(length.max(memory.len()), 0);
        let buffer = &mut memory[..length];
        file.read_exact_at(buffer, point.offset)?;
        let mut used = 0;
        while let Some(length) = memchr(b'\n', &buffer[used..]) {
            let record = &buffer[used..used + length];
            let flow = each(record, point);
            used += length + 1;
            point.offset += length as u64 + 1;
            point.lines += u64::from(journal::is_line(record));
            if flow.is_break() {
                return Ok(());
            }
        }
        left = left.saturating_sub(used);
        if used == 0 {
            if size > RECORD_LIMIT {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a record of the journal is too long"));
            }
            size *= 2;
        }
    }
    Ok(())
}

/// Up to `count` lines from line `from` on, or the last `count` lines if `from` is 0. Blocking.
pub(crate) fn page(run: &StoredRun, from: u64, count: u32) -> io::Result<LogPage> {
    let extent = run.extent();
    let count = u64::from(count.min(PAGE_LINES));
    let first = if from == 0 { extent.lines.saturating_sub(count) + 1 } else { from };
    let mut lines = Vec::new();
    let mut bytes = 0;
    if count > 0 && first <= extent.lines {
        let mut point = run.seek(first, u64::MAX);
        walk(&run.file(), &mut point, extent.bytes, usize::MAX, |record, at| {
            if journal::is_line(record)
                && at.lines + 1 >= first
                && let Some(Record::Line(line)) = journal::decode(record, at.lines)
            {
                bytes += line.s.len();
                lines.push(line);
            }
            if lines.len() as u64 >= count || bytes > PAGE_BYTES {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
    }
    Ok(LogPage { first, lines, total: extent.lines, end: extent.end })
}

/// The events so far, from number `from` on. Blocking.
pub(crate) fn events(run: &StoredRun, from: u64) -> io::Result<Vec<RunEvent>> {
    let mut events = Vec::new();
    walk(&run.file(), &mut run.seek(u64::MAX, from), run.extent().bytes, usize::MAX, |record, at| {
        if journal::is_event(record)
            && let Some(Record::Event(event)) = journal::decode(record, at.lines)
            && event.n >= from
        {
            events.push(event);
        }
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

/// The recaps of the run, by host. Reads only the recaps' own records. Blocking.
pub(crate) fn recaps(run: &StoredRun) -> io::Result<Vec<BTreeMap<String, HostStats>>> {
    let (file, until) = (run.file(), run.extent().bytes);
    let mut recaps = Vec::new();
    for mut point in run.recaps() {
        walk(&file, &mut point, until, usize::MAX, |record, at| {
            if let Some(Record::Event(event)) = journal::decode(record, at.lines) {
                recaps.extend(event.body.into_recap());
            }
            ControlFlow::Break(())
        })?;
    }
    Ok(recaps)
}

/// The lines and events of some records that a follower wants.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    /// Number of the first of `lines`.
    pub(crate) first: u64,
    pub(crate) lines: Vec<LogLine>,
    pub(crate) events: Vec<RunEvent>,
}

/// The first line and the first event that a follower still wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) line: u64,
    pub(crate) event: u64,
}

impl Portion {
    /// Adds a record that comes after `lines_before` lines, if it is wanted.
    pub(crate) fn take(&mut self, record: Record, lines_before: u64, wanted: Wanted) {
        match record {
            Record::Line(line) if lines_before + 1 >= wanted.line => {
                if self.lines.is_empty() {
                    self.first = lines_before + 1;
                }
                self.lines.push(line);
            }
            Record::Event(event) if event.n >= wanted.event => self.events.push(event),
            Record::Line(_) | Record::Event(_) | Record::End(_) => {}
        }
    }
}

/// Reads about `budget` bytes of records for a follower. Blocking.
pub(crate) fn portion(
    file: &File,
    point: &mut Point,
    extent: &Extent,
    wanted: Wanted,
    budget: usize,
) -> io::Result<Portion> {
    let mut portion = Portion::default();
    walk(file, point, extent.bytes, budget, |record, at| {
        // After a gap, a follower still gets the skipped events, but not the skipped lines. Those needn't be decoded.
        let skipped = journal::is_line(record) && at.lines + 1 < wanted.line;
        if !skipped && let Some(record) = journal::decode(record, at.lines) {
            portion.take(record, at.lines, wanted);
        }
        ControlFlow::Continue(())
    })?;
    Ok(portion)
}

/// The next chunk of plain text. Empty at the end. Blocking.
pub(crate) fn text(file: &File, point: &mut Point, until: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    while out.is_empty() && point.offset < until {
        walk(file, point, until, 64 * 1024, |record, at| {
            if journal::is_line(record)
                && let Some(Record::Line(line)) = journal::decode(record, at.lines)
            {
                out.extend_from_slice(masking::without_colours(&line.s).as_bytes());
                out.push(b'\n');
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(out)
}
