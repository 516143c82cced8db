//! The page of one run: why it failed or what it is doing, its tasks, its log, its hosts, its results, its inputs.
//!
//! The server renders all of it, with the last 200 lines of the log, so the page is readable without JavaScript. In the
//! browser the same views are updated by the socket, and the log becomes a window of rows over a store of lines.

mod address;
mod functions;
mod head;
mod log;
mod page;
pub(crate) mod pieces;
mod results;
mod selection;
mod state;
mod summary;
mod tab;

pub(crate) use self::page::RunPage;

/// What the message of a failure means and what to do, in a sentence or two. `None` if no known cause prints it.
#[cfg(feature = "ssr")]
pub(crate) fn cause_of(message: &str) -> Option<&'static str> {
    summary::cause::Cause::of(message).map(|cause| cause.sentence)
}
