//! What can be done with objects, independent of how the request came in.
//!
//! create, get, list, watch, update (`replace`), patch and delete; deletecollection is a list and its deletions. Writes
//! are compare-and-swap: a verb computes the new object from the one it has read and starts again if another write was
//! faster. A client that sends a resourceVersion gets 409 then. Refusals have the API server's codes and messages.
//!
//! Not supported: lists in pages (`limit` is ignored, `continue` is a 400) and reads of past revisions (410).

mod create;
mod delete;
mod objects;
mod read;
mod update;
mod watch;

pub(crate) use delete::{Deleted, PERMANENT_NAMESPACES};
pub(crate) use objects::Objects;
pub(crate) use read::List;
pub(crate) use update::Patch;
pub(crate) use watch::{Seen, Watch};
