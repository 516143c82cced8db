//! What a run says: collected once per pod, numbered, spooled to disk and handed to any number of readers.
//!
//! One upstream line is one journal record, so the journal itself says where collecting has to go on. Readers never hold
//! the collector back: each reads the spool at its own pace and shares a small tail in memory.

mod ansi;
mod backend;
mod collect;
mod cursor;
mod follow;
mod journal;
mod message;
mod note;
mod pod;
mod reading;
mod retention;
mod run;
mod scan;
mod start;
mod tail;
mod upstream;
mod watched;
mod whose;
mod writer;

pub use backend::{Everybody, Readers, RunLog};
pub use start::{IsUnread, Options, start};
