//! The seam between the log route and whoever runs the pods.

use bytes::Bytes;
use futures::stream::BoxStream;
use jiff::Timestamp;

/// Which output is wanted. The implementation applies all of it, in this order: since, tail, timestamps, limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Keep the stream open and send what is written until the container ends.
    pub follow: bool,
    /// The container before the last restart; without one: [`LogRefusal::NoPrevious`].
    pub previous: bool,
    /// Put the time and a space before every line: `2026-11-21T07:00:00.100000000Z text`, nine decimals. A line that
    /// was stored in parts has the time of its first part.
    pub timestamps: bool,
    /// Only the last so many records. A line stored in parts counts once per part.
    pub tail_lines: Option<u64>,
    /// Stop after so many bytes, timestamps included, also inside a line.
    pub limit_bytes: Option<u64>,
    /// Only lines at or after this moment (already cut to the whole second where Kubernetes does so).
    pub since: Option<Timestamp>,
}

/// Whose output.
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
    /// The container has not started; the value is the reason it waits, such as `ContainerCreating`.
    #[error("is waiting to start: {0}")]
    NotStarted(String),
    #[error("previous terminated container not found")]
    NoPrevious,
    /// The output is not there any more, or can't be read.
    #[error("the log can't be read: {0}")]
    Unreadable(String),
}

/// Bytes as they go to the client. An error ends the answer.
pub type LogStream = BoxStream<'static, std::io::Result<Bytes>>;

/// Where logs come from.
#[async_trait::async_trait]
pub trait PodLogs: Send + Sync + 'static {
    /// Opens the output of a container.
    async fn open(&self, source: &LogSource, query: &LogQuery) -> Result<LogStream, LogRefusal>;
}

/// For an API without a runner: no container ever starts.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLogs;

#[async_trait::async_trait]
impl PodLogs for NoLogs {
    async fn open(&self, _: &LogSource, _: &LogQuery) -> Result<LogStream, LogRefusal> {
        Err(LogRefusal::NotStarted("ContainerCreating".into()))
    }
}
