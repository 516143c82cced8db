//! Appends to the journal of a run. A run has one writer at a time.

use std::io;
use std::io::Write;
use std::sync::Arc;

use api::Time;
use api::log::{LogEnd, LogLine};
use api::run::RunEvent;
use masking::Masker;

use crate::bounds;
use crate::cursor::Cursor;
use crate::journal::{self, Record};
use crate::message::{Message, understand};
use crate::run::StoredRun;
use crate::upstream::RawLine;

/// How many bytes may be pending before they must be written.
const PENDING_LIMIT: usize = 64 * 1024;

/// No run has more events. A higher number tells nothing about missing lines.
const MOST_EVENTS: u64 = 100_000_000;

pub(crate) struct Writer {
    run: Arc<StoredRun>,
    masker: Masker,
    token: Option<String>,
    /// After the pending lines.
    cursor: Option<Cursor>,
    lines: u64,
    event: u64,
    missing: u64,
    pending: Vec<u8>,
    records: Vec<Record>,
}

impl Writer {
    /// Continues at the end of the journal.
    pub(crate) fn resume(run: Arc<StoredRun>, mut masker: Masker, token: Option<String>) -> Self {
        let scan = run.scan();
        masker.resume_after(scan.last_line.as_deref());
        Self {
            masker,
            token,
            cursor: scan.cursor,
            lines: scan.extent.lines,
            event: scan.extent.event,
            missing: scan.missing,
            run,
            pending: Vec::new(),
            records: Vec::new(),
        }
    }

    pub(crate) fn cursor(&self) -> Option<Cursor> {
        self.cursor
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= PENDING_LIMIT
    }

    /// Adds one upstream line: its timestamp, and the bytes that the container wrote.
    pub(crate) fn push(&mut self, at: i64, raw: &[u8], line: &RawLine) {
        let length = line.length - (line.bytes.len() - raw.len()) as u64;
        let message = understand(raw, length, self.token.as_deref(), &mut self.masker);
        // A run numbers its events from 1. If the first one has a higher number, log rotation removed the start of the log.
        if let (None, Message::Event(event)) = (self.cursor, &message)
            && event.n > 1
        {
            let missing = Some(event.n - 1).filter(|missing| *missing < MOST_EVENTS).unwrap_or(1);
            self.mark(at, missing, "The log starts here: earlier lines were removed by log rotation.");
        }
        self.cursor = Some(Cursor::advanced(self.cursor, at));
        match message {
            Message::Text(text) => self.text(at, text),
            Message::Event(event) => self.event(b'e', at, event),
            Message::Both(text, event) => {
                self.text(at, text);
                self.event(b'f', at, event);
            }
        }
    }

    fn text(&mut self, at: i64, text: String) {
        journal::encode(&mut self.pending, b't', at, text.as_bytes());
        self.records.push(Record::Line(LogLine { t: Time(at / 1_000_000), s: text }));
        self.lines += 1;
    }

    fn event(&mut self, kind: u8, at: i64, mut event: RunEvent) {
        event.after = self.lines;
        // Counted here: with the run's own numbers, one absurd number would stop the progress that pages show.
        event.n = self.event.saturating_add(1);
        self.event = event.n;
        bounds::apply(&mut event, at / 1_000_000);
        match serde_json::to_vec(&event) {
            Ok(json) => {
                journal::encode(&mut self.pending, kind, at, &json);
                self.records.push(Record::Event(event));
            }
            Err(error) => tracing::error!(%error, "an event cannot be encoded"),
        }
    }

    /// Adds a line of ours where at least `missing` lines are missing.
    pub(crate) fn mark(&mut self, at: i64, missing: u64, text: &str) {
        journal::encode(&mut self.pending, b'm', at, format!("{missing} {text}").as_bytes());
        self.records.push(Record::Line(LogLine { t: Time(at / 1_000_000), s: text.to_owned() }));
        self.lines += 1;
        self.missing += missing;
    }

    /// Writes the pending records and publishes them to readers. After an error this writer must not be used any more.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        let (file, before) = (self.run.file(), self.run.extent().bytes);
        let written = tokio::task::spawn_blocking(move || match (&*file).write_all(&bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => {
                file.set_len(before)?;
                Err(error)
            }
        });
        let bytes = written.await.map_err(io::Error::other)??;
        self.run.publish(&bytes, std::mem::take(&mut self.records));
        Ok(())
    }

    /// Writes the end record, the last one of a journal.
    pub(crate) async fn finish(mut self) -> io::Result<LogEnd> {
        let at = self.cursor.map_or(0, |c| c.at);
        journal::encode(&mut self.pending, b'z', at, self.missing.to_string().as_bytes());
        self.flush().await?;
        let file = self.run.file();
        tokio::task::spawn_blocking(move || file.sync_data()).await.map_err(io::Error::other)??;
        Ok(LogEnd { lines: self.lines, missing: self.missing })
    }
}
