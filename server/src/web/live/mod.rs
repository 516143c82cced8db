//! `/live`: one WebSocket per tab, which sends changed topics and the lines of runs.
//!
//! There is one task per socket and no queue. While the browser accepts no frame, the task reads nothing more from the backend,
//! whose streams report what a slow reader has missed. So at most one frame and the kernel's buffer are in flight. The task
//! ends with the session, with the server, or when the browser accepts no data for 30 seconds.

mod follows;
mod socket;
mod topics;

pub(super) use socket::upgrade;
