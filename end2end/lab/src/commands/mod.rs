//! The commands of the command line.

pub(crate) mod build;
pub(crate) mod enter;
pub(crate) mod images;
pub(crate) mod inspect;
pub(crate) mod machine;
pub(crate) mod up;
