//! The kinds with their objects, and what several verbs need.

use std::sync::Arc;

use serde_json::Value;

use crate::failure::Failure;
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
        WriteError::Disk(_) | WriteError::Raced => Failure::internal(error.to_string()),
    }
}

/// Ignores unknown fields, warns about them or refuses them with a message, as the client asks.
pub(super) fn unknown_fields(unknown: &[String], how: UnknownFields, warnings: &mut Vec<String>) -> Result<(), String> {
    let texts: Vec<String> = unknown.iter().map(|field| format!("unknown field \"{field}\"")).collect();
    match how {
        UnknownFields::Ignore => {}
        UnknownFields::Warn => warnings.extend(texts),
        UnknownFields::Refuse if texts.is_empty() => {}
        UnknownFields::Refuse => return Err(format!("strict decoding error: {}", texts.join(", "))),
    }
    Ok(())
}
