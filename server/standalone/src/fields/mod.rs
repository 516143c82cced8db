//! Field ownership: `metadata.managedFields` and server-side apply.
//!
//! Each write records which manager set which fields. A server-side apply that would change another manager's field is
//! refused with 409 and all conflicts, unless it has `force`. A field that its last manager stops applying is removed.
//!
//! In here, an object is a flat map from paths to leaf values, and ownership is a set of paths. The tree of `FieldsV1`
//! exists only in JSON.

pub(crate) mod apply;
mod last_applied;
pub(crate) mod managed;
mod path;
mod typing;

pub(crate) use typing::{merge_key, merges_as_set};
