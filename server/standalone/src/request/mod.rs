//! What a request asks for: which objects, and with which options.
//!
//! `http` makes these values from paths, queries and bodies; the verbs read them. An unknown value of an option is a 422
//! with the allowed ones, and options that the verbs don't know are ignored, as in the API server.

mod options;
mod query;
mod target;

pub(crate) use options::{DeleteOptions, ListOptions, Propagation, UnknownFields, WatchOptions, WriteOptions};
pub(crate) use query::Query;
pub(crate) use target::Target;
