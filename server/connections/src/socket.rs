//! An accepted connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use crate::peers::Peer;

/// The kernel's buffer for data that the client hasn't accepted yet, in bytes. The kernel reports room again when a third of it is
/// free. With the usual buffer, of up to 4 MiB, a client that reads 10 KB a second would seem to accept nothing for minutes.
const SEND_BUFFER: usize = 192 * 1024;

/// Sets what the connections of `listener` inherit. The kernel asks a silent client after a minute whether it still exists, because
/// a watch or a followed log may have no data to send for hours.
pub(crate) fn configure(listener: &TcpListener) {
    let probes =
        TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(20)).with_retries(3);
    let socket = SockRef::from(listener);
    let set = socket.set_tcp_keepalive(&probes).and_then(|()| socket.set_send_buffer_size(SEND_BUFFER));
    if let Err(error) = set {
        tracing::warn!(%error, "the options of a port's sockets could not be set");
    }
}

/// A TCP connection. Writing fails when the client has accepted no data for a while. The connection keeps its place on the port until
/// it is dropped, also after an upgrade to a WebSocket.
pub struct Socket {
    stream: TcpStream,
    accepts_within: Duration,
    /// Runs while the client accepts no data.
    stalled: Option<Pin<Box<Sleep>>>,
    is_heard: bool,
    peer: Peer,
    // Dropped after the stream, so that the number of open descriptors never exceeds the limit.
    _place: OwnedSemaphorePermit,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, accepts_within: Duration, peer: Peer, place: OwnedSemaphorePermit) -> Self {
        Self { stream, accepts_within, stalled: None, is_heard: false, peer, _place: place }
    }

    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.accepts_within)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client accepts no data")))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.peer.leaves();
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if !this.is_heard && buffer.filled().len() > before {
            this.is_heard = true;
            this.peer.is_heard();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.in_time(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
