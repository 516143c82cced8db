//! The body of a request, with a limit on how slowly it may arrive.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

/// The minimum rate in bytes per second: each 1,024 bytes extend the deadline by one second.
const RATE: f64 = 1024.0;

/// A body that ends with an error if it pauses for longer than `pause`, or if it comes more slowly than [`RATE`] for that long.
pub(crate) struct Arriving {
    body: Incoming,
    pause: Duration,
    /// Starts when the first read has to wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Arriving {
    pub(crate) fn new(body: Incoming, pause: Duration) -> Self {
        Self { body, pause, deadline: None }
    }

    fn earn(&mut self, bytes: usize) {
        if let Some(deadline) = &mut self.deadline {
            let earned = deadline.deadline() + Duration::from_secs_f64(bytes as f64 / RATE);
            deadline.as_mut().reset(earned.min(Instant::now() + self.pause));
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                this.earn(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other.map(|frame| frame.map_err(io::Error::other))),
            Poll::Pending => {
                let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep(this.pause)));
                ready!(deadline.as_mut().poll(context));
                let late = io::Error::new(io::ErrorKind::TimedOut, "the body of the request arrived too slowly");
                Poll::Ready(Some(Err(late)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
