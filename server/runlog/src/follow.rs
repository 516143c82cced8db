//! One viewer of a run.
//!
//! A follower pulls. It only keeps a position in the journal, so a slow one costs nothing and doesn't delay others. At the
//! end of the journal it uses the batches in memory that all followers share; further back it reads the file.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use api::Problem;
use api::backend::Frames;
use api::log::LogFrame;
use futures::StreamExt;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::reading::{self, Portion, Wanted};
use crate::run::StoredRun;
use crate::scan::{Extent, Point};

/// A live follower gets at most ten batches per second.
const PACE: Duration = Duration::from_millis(100);
/// How much is read for one batch, in bytes.
const BATCH: usize = 24 * 1024;
/// A live follower that is more lines behind than this, for longer than [`FAR_FOR`], skips lines: it sends a gap and continues
/// [`KEPT_LINES`] before the end. The browser answers a gap with a new follow from the first missing line. That one isn't live
/// until it has reached the end once, so it reads everything without skipping again.
const FAR: u64 = 10_000;
/// A burst alone is no reason to skip lines: a fast viewer catches up within moments.
const FAR_FOR: Duration = Duration::from_secs(2);
const KEPT_LINES: u64 = 1_000;

struct Follower {
    run: Arc<StoredRun>,
    extent: watch::Receiver<Extent>,
    at: Point,
    wanted: Wanted,
    queue: VecDeque<LogFrame>,
    /// It has reached the end once. From then on it skips lines if it falls far behind.
    live: bool,
    far_since: Option<Instant>,
    last: Option<Instant>,
    ended: bool,
}

/// The lines from `line` on and the events from `event` on, until the end of the run.
pub(crate) fn follow(run: Arc<StoredRun>, line: u64, event: u64) -> Frames<LogFrame> {
    let follower = Follower {
        extent: run.watch(),
        at: run.seek(line, event),
        wanted: Wanted { line: line.max(1), event },
        run,
        queue: VecDeque::new(),
        live: false,
        far_since: None,
        last: None,
        ended: false,
    };
    futures::stream::unfold(follower, async |mut follower| follower.next().await.map(|frame| (frame, follower))).boxed()
}

impl Follower {
    async fn next(&mut self) -> Option<LogFrame> {
        loop {
            if let Some(frame) = self.queue.pop_front() {
                return Some(frame);
            }
            let extent = *self.extent.borrow_and_update();
            if self.ended || extent.gone {
                return None;
            }
            if self.at.offset >= extent.bytes {
                if let Some(end) = extent.end {
                    self.ended = true;
                    return Some(LogFrame::End(end));
                }
                self.live = true;
                self.far_since = None;
                self.extent.changed().await.ok()?;
                if let Some(last) = self.last {
                    tokio::time::sleep_until(last + PACE).await;
                }
                continue;
            }
            self.skip_if_far_behind(&extent);
            match self.portion(extent).await {
                Ok(portion) => self.enqueue(portion),
                Err(error) => {
                    tracing::error!(%error, "cannot read the log of a run");
                    self.ended = true;
                    return Some(LogFrame::Closed(Problem::Internal));
                }
            }
        }
    }

    fn skip_if_far_behind(&mut self, extent: &Extent) {
        let behind = (extent.lines + 1).saturating_sub(self.wanted.line);
        if !self.live || behind <= FAR {
            self.far_since = None;
            return;
        }
        if self.far_since.get_or_insert_with(Instant::now).elapsed() > FAR_FOR {
            let (from, to) = (self.wanted.line, extent.lines + 1 - KEPT_LINES);
            self.wanted.line = to;
            self.queue.push_back(LogFrame::Gap { from, to });
        }
    }

    async fn portion(&mut self, extent: Extent) -> io::Result<Portion> {
        let mut portion = Portion::default();
        let mut taken = 0;
        while let Some(batch) = self.run.batch_at(self.at.offset) {
            taken += batch.end.offset - batch.start.offset;
            let mut lines = batch.start.lines;
            for record in &batch.records {
                portion.take(record.clone(), lines, self.wanted);
                lines += u64::from(matches!(record, crate::journal::Record::Line(_)));
            }
            self.at = batch.end;
            if taken >= BATCH as u64 {
                break;
            }
        }
        if taken == 0 {
            let (file, wanted, mut at) = (self.run.file(), self.wanted, self.at);
            let read = tokio::task::spawn_blocking(move || {
                reading::portion(&file, &mut at, &extent, wanted, BATCH).map(|portion| (portion, at))
            });
            (portion, self.at) = read.await.map_err(io::Error::other)??;
        }
        Ok(portion)
    }

    fn enqueue(&mut self, portion: Portion) {
        if let Some(last) = portion.events.last() {
            self.wanted.event = last.n + 1;
        }
        if !portion.lines.is_empty() {
            self.wanted.line = portion.first + portion.lines.len() as u64;
            self.queue.push_back(LogFrame::Lines { first: portion.first, lines: portion.lines });
        }
        if !portion.events.is_empty() {
            self.queue.push_back(LogFrame::Events(portion.events));
        }
        if !self.queue.is_empty() {
            self.last = Some(Instant::now());
        }
    }
}
