//! Registers a cluster: checks the form, shows a review, then writes the objects.
//!
//! The Cluster is written first, because its inputs need it as owner. Until all inputs are written, it has the annotation
//! [`UNFINISHED`]. If the server crashes in between, registering the same name again continues.

mod check;
mod objects;
mod one_at_a_time;
mod preview;
mod review;
pub(crate) mod settings;
mod write;

pub(crate) use check::machines;
pub(crate) use one_at_a_time::Registering;

/// Annotation of a Cluster whose inputs are not all written yet.
pub const UNFINISHED: &str = "kubeonkube.clay.io/unfinished-registration";

/// Annotation of a Cluster that was registered to be managed, not created: its pages don't offer to create it.
pub(crate) const EXISTING: &str = "kubeonkube.clay.io/existing";
