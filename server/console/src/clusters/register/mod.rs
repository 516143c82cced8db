//! Registering a cluster: everything is checked, shown, then written.
//!
//! The Cluster is written first, marked as unfinished, because its inputs name it as their owner. After a crash
//! the mark is still there, and registering the same name again continues.

mod check;
mod objects;
mod one_at_a_time;
mod preview;
mod review;
mod write;

pub(crate) use one_at_a_time::Registering;

/// Annotation on a Cluster while its inputs are not all written.
pub const UNFINISHED: &str = "kubeonkube.clay.io/unfinished-registration";
