//! Who set which field: managed fields and server-side apply.
//!
//! An object is seen as a flat map from paths to leaf values; ownership is a set of paths. `FieldsV1` (a tree) exists
//! only in JSON.

pub(crate) mod apply;
pub(crate) mod managed;
mod path;
mod typing;

pub(crate) use typing::{merge_key, merges_as_set};
