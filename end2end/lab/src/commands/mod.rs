//! The verbs of the command line.

pub(crate) mod build;
pub(crate) mod enter;
pub(crate) mod look;
pub(crate) mod machine;
pub(crate) mod up;
