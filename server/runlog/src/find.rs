//! Finds text and the lines of a host in a journal, in one pass over all of it.
//!
//! A journal contains masked text only, so a search can't be used to guess a secret.

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use api::log::{Found, FoundLine, LogLine, LogQuery};
use api::run::{EventBody, RunEvent};
use api::{count, thousands};

use crate::journal::{self, Record};
use crate::needle::Needle;
use crate::reading::walk;
use crate::run::StoredRun;
use crate::scan::Point;

/// How long a search may take.
pub(crate) const WITHIN: Duration = Duration::from_secs(2);
/// How often the time is checked, in records.
const STRIDE: u64 = 256;
/// How many lines are worth a thread of their own, and the most threads of a search: others use the server, too.
const LINES_OF_A_THREAD: u64 = 100_000;
const MOST_THREADS: usize = 4;
/// The most lines of one result. The rest of a longer one isn't listed under its host.
const MOST_OF_A_RESULT: usize = 2_000;
/// The most bytes of these lines, apart from the newest one.
const MOST_BYTES_OF_A_RESULT: usize = 8 * 1024 * 1024;
/// The most bytes of the lines in one answer, apart from its first line.
const MOST_LISTED_BYTES: usize = 1024 * 1024;

/// The answer to `query`. Stops at `deadline`. Blocking.
pub(crate) fn find(run: &StoredRun, query: &LogQuery, deadline: Instant) -> io::Result<Found> {
    let length = query.text.chars().count();
    if length > LogQuery::LONGEST {
        let note = format!("The text has {length} characters; at most {} can be found. Shorten it.", LogQuery::LONGEST);
        return Ok(Found { note, ..Found::default() });
    }
    if query.is_empty() {
        return Ok(Found::default());
    }
    let (mut found, stopped) =
        if query.host.is_empty() { find_text(run, &query.text, deadline)? } else { find_lines(run, query, deadline)? };
    let extent = run.extent();
    found.note = match stopped {
        Some(line) => format!(
            "The search took too long and stopped at line {} of {}. To look in the rest, download the log.",
            thousands(line),
            thousands(extent.lines)
        ),
        None if found.total > found.hits.len() as u64 => {
            format!("Only the first {} can be visited one by one.", count(found.hits.len() as u64, "hit", "hits"))
        }
        None => String::new(),
    };
    Ok(found)
}

/// The hits of a text. Also the line at which the time was over. Several threads share a long journal.
fn find_text(run: &StoredRun, text: &str, deadline: Instant) -> io::Result<(Found, Option<u64>)> {
    let (extent, needle, file) = (run.extent(), Needle::of(text), run.file());
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS) as u64;
    let parts = threads.min(extent.lines / LINES_OF_A_THREAD).max(1);
    let starts: Vec<Point> = (0..parts).map(|part| run.seek(extent.lines * part / parts + 1, u64::MAX)).collect();
    let ends = starts[1..].iter().map(|next| next.offset).chain([extent.bytes]);
    let parts = thread::scope(|scope| {
        let search = |(start, end)| {
            let (file, needle) = (&file, &needle);
            scope.spawn(move || hits(file, start, end, needle, deadline))
        };
        let threads: Vec<_> = starts.iter().copied().zip(ends).map(search).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
    });
    let mut found = Found::default();
    for part in parts {
        let (of_part, stopped) = part?;
        found.total += of_part.total;
        let room = LogQuery::MOST_HITS - found.hits.len();
        found.hits.extend(of_part.hits.into_iter().take(room));
        if stopped.is_some() {
            return Ok((found, stopped));
        }
    }
    Ok((found, None))
}

/// The hits between two positions. Also the line at which the time was over.
fn hits(
    file: &File,
    mut at: Point,
    end: u64,
    needle: &Needle<'_>,
    deadline: Instant,
) -> io::Result<(Found, Option<u64>)> {
    let (mut found, mut stopped, mut watch) = (Found::default(), None, Watch::until(deadline));
    let mut small = Vec::new();
    walk(file, &mut at, end, usize::MAX, |record, at| {
        if watch.is_over() {
            stopped = Some(at.lines);
            return ControlFlow::Break(());
        }
        if journal::payload(record).is_some_and(|payload| needle.is_in_bytes(payload, &mut small)) {
            hit(&mut found, at.lines + 1);
        }
        ControlFlow::Continue(())
    })?;
    Ok((found, stopped))
}

/// The lines of a host. Also the line at which the time was over.
fn find_lines(run: &StoredRun, query: &LogQuery, deadline: Instant) -> io::Result<(Found, Option<u64>)> {
    let mut finder = Finder::new(query);
    let (mut point, mut stopped, mut watch) = (Point::default(), None, Watch::until(deadline));
    walk(&run.file(), &mut point, run.extent().bytes, usize::MAX, |record, at| {
        if watch.is_over() {
            stopped = Some(at.lines);
            return ControlFlow::Break(());
        }
        if journal::is_line(record) {
            finder.line(record, at.lines + 1);
        } else if let Some(Record::Event(event)) = journal::decode(record, at.lines) {
            finder.event(&event);
        }
        ControlFlow::Continue(())
    })?;
    Ok((finder.found, stopped))
}

fn hit(found: &mut Found, number: u64) {
    found.total += 1;
    if found.hits.len() < LogQuery::MOST_HITS {
        found.hits.push(number);
    }
}

/// Looks at the clock every [`STRIDE`] records.
struct Watch {
    deadline: Instant,
    records: u64,
}

impl Watch {
    fn until(deadline: Instant) -> Self {
        Self { deadline, records: 0 }
    }

    fn is_over(&mut self) -> bool {
        self.records += 1;
        self.records.is_multiple_of(STRIDE) && Instant::now() > self.deadline
    }
}

/// Collects the lines of a host.
struct Finder<'a> {
    needle: Needle<'a>,
    host: &'a str,
    from: u64,
    found: Found,
    /// With a host: the lines since the newest event. They belong to the next event.
    pending: Vec<FoundLine>,
    /// The bytes of `pending`.
    pending_bytes: usize,
    /// The bytes of the listed lines.
    listed_bytes: usize,
    /// The headlines of the newest play and task, until they are listed.
    headlines: [Option<FoundLine>; 2],
}

impl<'a> Finder<'a> {
    fn new(query: &'a LogQuery) -> Self {
        Self {
            needle: Needle::of(&query.text),
            host: &query.host,
            from: query.from,
            found: Found::default(),
            pending: Vec::new(),
            pending_bytes: 0,
            listed_bytes: 0,
            headlines: [None, None],
        }
    }

    fn line(&mut self, record: &[u8], number: u64) {
        let Some(Record::Line(line)) = journal::decode(record, number - 1) else { return };
        // The newest line stays: it may be a headline.
        while self.pending.len() >= MOST_OF_A_RESULT || self.pending_bytes + line.s.len() > MOST_BYTES_OF_A_RESULT {
            let Some(last) = self.pending.pop() else { break };
            self.pending_bytes -= last.line.s.len();
        }
        self.pending_bytes += line.s.len();
        self.pending.push(FoundLine { number, line });
    }

    /// The lines since the event before belong to this one.
    fn event(&mut self, event: &RunEvent) {
        let lines = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        match &event.body {
            EventBody::PlayStart { .. } => self.headlines = [headline(lines), None],
            EventBody::TaskStart { .. } => self.headlines[1] = headline(lines),
            EventBody::HostResult { host, .. } | EventBody::Retry { host, .. } if host == self.host => self.list(lines),
            EventBody::Stats { .. } => {
                let (of_host, mut others): (Vec<_>, Vec<_>) =
                    lines.into_iter().partition(|found| is_recap_of(&found.line, self.host));
                let title = others.iter().position(|found| plain(&found.line).starts_with("PLAY RECAP"));
                self.headlines = [title.map(|at| others.swap_remove(at)), None];
                self.list(of_host);
            }
            _ => {}
        }
    }

    /// Lists the lines that contain the text, after their headlines.
    fn list(&mut self, lines: Vec<FoundLine>) {
        for found in lines {
            if !self.needle.is_in(&found.line.s) {
                continue;
            }
            hit(&mut self.found, found.number);
            if found.number < self.from || self.found.next > 0 {
                continue;
            }
            let headlines = self.headlines.iter().flatten();
            let bytes = found.line.s.len() + headlines.clone().map(|headline| headline.line.s.len()).sum::<usize>();
            let is_full = self.found.lines.len() + headlines.count() >= LogQuery::MOST_LINES
                || self.listed_bytes + bytes > MOST_LISTED_BYTES;
            // An answer without a line would lead to itself.
            if is_full && !self.found.lines.is_empty() {
                self.found.next = found.number;
                continue;
            }
            self.listed_bytes += bytes;
            let headlines = self.headlines.iter_mut().filter_map(Option::take);
            self.found.lines.extend(headlines);
            self.found.lines.push(found);
        }
    }
}

/// The headline is the last line before its event.
fn headline(mut lines: Vec<FoundLine>) -> Option<FoundLine> {
    lines.pop()
}

fn plain(line: &LogLine) -> String {
    masking::without_colours(&line.s)
}

/// Whether it is the line of a host in ansible's recap: `w1    : ok=2    changed=0 …`.
fn is_recap_of(line: &LogLine, host: &str) -> bool {
    plain(line).strip_prefix(host).is_some_and(|rest| rest.trim_start().starts_with(": ok="))
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
