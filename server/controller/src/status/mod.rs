//! What people read about an operation: its status and conditions, its Events, its result. All writes to a ClusterOperation are here.

pub(crate) mod content;
pub(crate) mod event;
pub(crate) mod ignored;
pub(crate) mod outcome;
pub(crate) mod refusal;
pub(crate) mod sentence;
#[cfg(test)]
mod standing_tests;
pub(crate) mod write;
