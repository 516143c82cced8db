//! The kinds with their objects, and what several verbs need.

use std::sync::Arc;

use serde_json::Value;

use crate::failure::{Failure, NO_ROOM};
use crate::kind::{BuiltIn, Kind, Kinds};
use crate::request::{Target, UnknownFields};
use crate::store::{Key, Store, WriteError};

/// The kinds and their objects. Each verb is a method of this type.
pub(crate) struct Objects {
    pub(crate) kinds: Kinds,
    pub(crate) store: Store,
}

/// A successful write.
pub(crate) struct Written {
    pub(crate) object: Value,
    pub(crate) created: bool,
    /// Texts for `Warning` headers.
    pub(crate) warnings: Vec<String>,
}

impl Objects {
    pub(crate) fn key(kind: &Kind, namespace: Option<&str>, name: &str) -> Key {
        Key::new(&kind.stored_as, namespace.unwrap_or_default(), name)
    }

    /// The kind in whose form objects are stored. It differs for `events.k8s.io/v1` Events, stored as `v1` Events.
    pub(crate) fn storage_kind(&self, kind: &Arc<Kind>) -> Arc<Kind> {
        if kind.is(BuiltIn::NewEvent) { self.kinds.built_in(BuiltIn::Event).clone() } else { kind.clone() }
    }
}

/// Key and name of the target object. A collection is refused with 405.
pub(super) fn item(target: &Target) -> Result<(Key, &str), Failure> {
    let name = target.name.as_deref().ok_or_else(Failure::method_not_allowed)?;
    Ok((Objects::key(&target.kind, target.namespace.as_deref(), name), name))
}

/// The answer to a failed write. The verbs handle a lost race themselves, mostly by a retry.
pub(super) fn write_failure(error: &WriteError) -> Failure {
    match error {
        WriteError::Closed => Failure::new(503, "ServiceUnavailable", error.to_string()).retry_after(1),
        WriteError::Full => Failure::new(NO_ROOM, "InsufficientStorage", error.to_string()),
        WriteError::Disk(_) | WriteError::Raced => Failure::internal(error.to_string()),
    }
}

/// Refuses the unknown fields of a whole object, if the client asks for that.
pub(super) fn unknown_fields(
    kind: &Kind,
    unknown: &[String],
    how: UnknownFields,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    let Some(why) = strictly_refused(unknown, how, warnings) else { return Ok(()) };
    Err(Failure::unreadable(kind, &why))
}

/// Ignores unknown fields, warns about them, or returns why they are refused, as the client asks.
pub(super) fn strictly_refused(unknown: &[String], how: UnknownFields, warnings: &mut Vec<String>) -> Option<String> {
    let texts: Vec<String> = unknown.iter().map(|field| format!("unknown field \"{field}\"")).collect();
    match how {
        UnknownFields::Ignore => {}
        UnknownFields::Warn => warnings.extend(texts),
        UnknownFields::Refuse if texts.is_empty() => {}
        UnknownFields::Refuse => return Some(format!("strict decoding error: {}", texts.join(", "))),
    }
    None
}
