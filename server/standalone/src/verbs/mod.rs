//! What can be done with objects, independent of how the request came in.

mod create;
mod delete;
mod read;
mod update;
mod watch;

use std::sync::Arc;

use serde_json::Value;

use crate::failure::Failure;
use crate::http::query::{UnknownFields, WriteOptions};
use crate::http::route::Target;
use crate::kind::{BuiltIn, Kind, Kinds};
use crate::store::{Key, Store, WriteError};

pub(crate) use delete::{DeleteOptions, Deleted, Propagation};
pub(crate) use read::{List, ListOptions};
pub(crate) use update::Patch;
pub(crate) use watch::{Seen, Watch, WatchOptions};

/// The kinds and their objects.
pub(crate) struct Objects {
    pub(crate) kinds: Kinds,
    pub(crate) store: Store,
}

/// A write that succeeded.
pub(crate) struct Written {
    pub(crate) object: Value,
    pub(crate) created: bool,
    /// Sentences for `Warning` headers.
    pub(crate) warnings: Vec<String>,
}

impl Objects {
    pub(crate) fn key(kind: &Kind, namespace: Option<&str>, name: &str) -> Key {
        Key {
            resource: kind.stored_as.clone(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: name.to_owned(),
        }
    }

    /// The kind under which a view's objects are kept: itself, but for the second view of Events.
    pub(crate) fn storage_kind(&self, kind: &Arc<Kind>) -> Arc<Kind> {
        if kind.is(BuiltIn::NewEvent) { self.kinds.built_in(BuiltIn::Event).clone() } else { kind.clone() }
    }
}

/// The key of the object a target names.
fn item(target: &Target) -> Result<(Key, &str), Failure> {
    let name = target.name.as_deref().ok_or_else(Failure::method_not_allowed)?;
    Ok((Objects::key(&target.kind, target.namespace.as_deref(), name), name))
}

/// What a failed write means to the client, except for a race, which the caller repeats.
fn write_failure(error: &WriteError) -> Failure {
    match error {
        WriteError::Closed => Failure::new(503, "ServiceUnavailable", error.to_string()).retry_after(1),
        WriteError::Disk(_) | WriteError::Raced => Failure::internal(error.to_string()),
    }
}

/// Turns fields the kind doesn't have into warnings or a refusal.
fn unknown_fields(unknown: &[String], options: &WriteOptions, warnings: &mut Vec<String>) -> Result<(), String> {
    let texts: Vec<String> = unknown.iter().map(|field| format!("unknown field \"{field}\"")).collect();
    match options.unknown_fields {
        UnknownFields::Ignore => {}
        UnknownFields::Warn => warnings.extend(texts),
        UnknownFields::Refuse if texts.is_empty() => {}
        UnknownFields::Refuse => return Err(format!("strict decoding error: {}", texts.join(", "))),
    }
    Ok(())
}
