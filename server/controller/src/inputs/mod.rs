//! What an operation runs with: its inputs are read by GET when it is about to take its turn, checked, and frozen in a snapshot. The
//! snapshot is the immutable Secret `<operation>-inputs`, which the Job mounts.

pub(crate) mod difference;
pub(crate) mod evaluate;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod snapshot;
pub(crate) mod validate;
