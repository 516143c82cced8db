//! The logs of runs: collected once per pod, numbered, stored on disk and sent to any number of viewers.
//!
//! # How a line gets from a pod to a browser
//!
//! 1. [`start()`] watches the pods that have the label of an operation. For each it spawns one collector (`collect`), which
//!    waits until the container has started and reads the run's inputs. They tell which values are secret, and the token
//!    that marks the run's events.
//! 2. The collector requests the pod's log with timestamps (`upstream` splits the response into lines). After a cut it
//!    connects again: `cursor` knows the last stored line and drops the repeated ones. If lines are lost, a line in the log
//!    says so.
//! 3. `message` decides whether a line is text or an event; `bounds` replaces absurd numbers of events. `ansi` removes everything from a text that a browser must not
//!    get, except colours, and the crate `masking` hides the secrets that the run's own masking left
//!    (`deploy/runner/kubeonkube_masking.py` masks the output in the pod). So no secret reaches the spool.
//! 4. `writer` appends the line to the run's `journal`, one append-only file in the run's folder in the spool. The *spool* is
//!    the folder of all runs. The n-th text line of a journal has the number n everywhere: in URLs, on the socket and in the
//!    download. Events have numbers of their own.
//! 5. After each append, `run` publishes the new extent of the journal, and keeps the newest records in memory (`tail`).
//! 6. Each viewer has a `follow`er. It waits for the extent to grow, takes the new records from the tail, or from the file
//!    if it is behind (`reading`), and passes them on as frames. [`RunLog`] (`run_log`) holds the open journals and
//!    implements the trait `api::backend::Runs` (`backend`), through which pages and the live socket of the binary get them.
//!    `find` looks for text, and for the lines of a host.
//!
//! The journal is the only record of what was collected: after a crash, `scan` reads it and the collector continues behind
//! its last whole record. Viewers never delay the collector. A live viewer that is far behind gets a frame that names the lines
//! it missed, and then the newest lines. The browser follows the run again from the first missing line at once, and reads
//! the missing lines from the file.

mod ansi;
mod api_identity;
mod backend;
mod bounds;
mod collect;
mod cursor;
mod find;
mod follow;
#[cfg(test)]
mod fuzz_tests;
mod journal;
mod message;
mod needle;
mod note;
mod pod;
mod reading;
mod rechecked;
mod retention;
mod run;
mod run_log;
mod scan;
mod start;
mod tail;
mod upstream;
mod writer;

pub use retention::IsUnread;
pub use run_log::{Everybody, Readers, RunLog};
pub use start::{Options, start};
