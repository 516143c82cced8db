//! Admission: from the object of a client to the one to store, as in the API server's registries.
//!
//! The type is checked (400), unknown fields are dropped and reported, defaults are filled in, and the rules of the kind
//! are checked (422 with every violation). There are no webhooks, no quotas and no admission policies.

mod field;
mod job;
mod metadata;
pub(crate) mod names;
mod plain;
mod pod;
mod secret;
mod steps;

pub(crate) use metadata::annotations_fit;
pub(crate) use steps::{admitted, same_spec, shaped, type_checked};
