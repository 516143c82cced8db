//! Splits the response to `GET …/log?timestamps=true` into lines.

use std::io;

use futures::{AsyncBufRead, AsyncBufReadExt};

/// The most bytes of a line that are kept (an event with the facts of a machine can be long). The rest of a longer line is
/// read and dropped.
pub(crate) const RAW_LIMIT: usize = 1024 * 1024;

/// A line without its line feed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RawLine {
    pub(crate) bytes: Vec<u8>,
    /// The whole length in bytes, with the dropped rest.
    pub(crate) length: u64,
}

/// Reads lines in bounded memory. The future of `next` may be dropped at any time without losing a byte.
pub(crate) struct Lines<R> {
    source: R,
    partial: RawLine,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn of(source: R) -> Self {
        Self { source, partial: RawLine::default() }
    }

    /// The next finished line. `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> io::Result<Option<RawLine>> {
        loop {
            let chunk = self.source.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let feed = chunk.iter().position(|b| *b == b'\n');
            let piece = &chunk[..feed.unwrap_or(chunk.len())];
            let room = RAW_LIMIT.saturating_sub(self.partial.bytes.len());
            self.partial.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
            self.partial.length += piece.len() as u64;
            let used = piece.len() + usize::from(feed.is_some());
            self.source.consume_unpin(used);
            if feed.is_some() {
                return Ok(Some(std::mem::take(&mut self.partial)));
            }
        }
    }

    /// The bytes after the last line feed. They are a line only if the container has ended; otherwise they are half a line.
    pub(crate) fn rest(&mut self) -> Option<RawLine> {
        (self.partial.length > 0).then(|| std::mem::take(&mut self.partial))
    }
}

/// Splits a line into its timestamp (nanoseconds since the epoch) and the container's own bytes. `None` for messages that
/// the kubelet itself writes into the stream, such as `unable to retrieve container logs for …`.
pub(crate) fn stamped(raw: &[u8]) -> Option<(i64, &[u8])> {
    let end = raw.iter().take(64).position(|b| *b == b' ').unwrap_or(raw.len().min(64));
    let stamp: jiff::Timestamp = std::str::from_utf8(&raw[..end]).ok()?.parse().ok()?;
    Some((i64::try_from(stamp.as_nanosecond()).ok()?, raw.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use futures::io::{BufReader, Cursor};

    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_a_half_line_is_the_rest() {
        let long = "x".repeat(RAW_LIMIT + 5);
        let text = format!("one\n\n{long}\nhalf");
        let mut lines = Lines::of(BufReader::with_capacity(7, Cursor::new(text)));
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push((line.bytes.len(), line.length));
        }
        assert_eq!(read, [(3, 3), (0, 0), (RAW_LIMIT, RAW_LIMIT as u64 + 5)]);
        assert_eq!(lines.rest().unwrap().bytes, b"half");
    }

    #[test]
    fn timestamps_of_any_precision_are_read() {
        assert_eq!(stamped(b"1970-01-01T00:00:01.000000005Z a b"), Some((1_000_000_005, &b"a b"[..])));
        assert_eq!(stamped(b"1970-01-01T01:00:01+01:00 x"), Some((1_000_000_000, &b"x"[..])));
        assert_eq!(stamped(b"1970-01-01T00:00:00Z"), Some((0, &b""[..])));
        assert_eq!(stamped(b"unable to retrieve container logs for containerd://abc"), None);
    }
}
