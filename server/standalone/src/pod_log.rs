//! The interface between the log endpoint and the runner of pods.

use bytes::Bytes;
use futures::stream::BoxStream;
use jiff::Timestamp;

/// The query of a log request. [`PodLogs`] applies it in this order: since, tail, timestamps, limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Keep the stream open and send new output until the container ends.
    pub follow: bool,
    /// The output of the container before its last restart. If it never restarted: [`LogRefusal::NoPrevious`].
    pub previous: bool,
    /// Put the time, with nine decimals, and a space before each line: `2026-11-21T07:00:00.100000000Z text`. A line
    /// that was stored in parts has the time of its first part.
    pub timestamps: bool,
    /// Only this many records from the end. A line stored in parts counts once per part.
    pub tail_lines: Option<u64>,
    /// Stop after this many bytes, timestamps included, even in the middle of a line.
    pub limit_bytes: Option<u64>,
    /// Only lines written at or after this time. `sinceTime` has been cut to the second, as in the API server.
    pub since: Option<Timestamp>,
}

/// The container whose output is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSource {
    pub namespace: String,
    pub pod: String,
    pub uid: String,
    pub container: String,
}

/// Why there is no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogRefusal {
    /// The container has not started. The value is the reason it waits for, such as `ContainerCreating`.
    #[error("is waiting to start: {0}")]
    NotStarted(String),
    #[error("previous terminated container not found")]
    NoPrevious,
    /// The output was removed or can't be read.
    #[error("the log can't be read: {0}")]
    Unreadable(String),
}

/// The bytes to send to the client. An error ends the answer.
pub type LogStream = BoxStream<'static, std::io::Result<Bytes>>;

/// Reads the output of containers. The runner of Jobs implements it.
#[async_trait::async_trait]
pub trait PodLogs: Send + Sync + 'static {
    /// Opens the output of a container.
    async fn open(&self, source: &LogSource, query: &LogQuery) -> Result<LogStream, LogRefusal>;
}
