//! Registering a cluster: checked as a whole, shown, then written.
//!
//! The Cluster is written first, marked as unfinished, because its inputs name it as their owner. A crash in between leaves
//! the mark, and registering the same name again goes on from there.

mod check;
mod objects;
mod one_at_a_time;
mod preview;
mod review;
mod write;

pub(crate) use one_at_a_time::Registering;

/// Annotation on a Cluster whose inputs are not all written yet.
pub const UNFINISHED: &str = "kubeonkube.clay.io/unfinished-registration";
