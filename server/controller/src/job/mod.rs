//! The children of an operation: the snapshot Secret and the Job, their placeholders, and how they are created and found.

pub(crate) mod build;
pub(crate) mod children;
pub(crate) mod create;
pub(crate) mod lookup;
pub(crate) mod placeholder;
pub(crate) mod resume;
pub(crate) mod state;
