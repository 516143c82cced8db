//! The patches that are plain functions of the object: JSON merge patch, JSON patch and strategic merge patch.
//!
//! A patch of the wrong form is a 400, a JSON patch that fails a 422. A strategic merge patch of a custom resource is a
//! 415, as in the API server. Server-side apply is in `fields`, because it depends on field ownership.

mod go;
mod json;
mod strategic;

use serde_json::Value;

pub(crate) use go::in_go;
pub(crate) use json::json;
pub(crate) use strategic::strategic;

/// JSON merge patch (RFC 7386).
pub(crate) fn merge(mut object: Value, patch: &Value) -> Value {
    json_patch::merge(&mut object, patch);
    object
}
