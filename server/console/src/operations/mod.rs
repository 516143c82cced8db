//! Operations: lists, details, review and submission.

mod again;
mod arguments;
mod cancelled_by;
mod catalogue;
mod detail;
mod engine;
mod kubespray;
mod limit;
mod list;
mod outcome;
mod parameters;
mod plan;
mod progress;
mod queue;
mod removed;
mod requests;
mod row;
mod sources;
mod submit;
mod usual;
mod warnings;

pub(crate) use catalogue::Catalogue;
pub(crate) use kubespray::version_of;
pub(crate) use outcome::why;
pub(crate) use queue::ahead;
pub(crate) use removed::{has_reset, is_dry, is_limited, limited_to, named_in, replaces, values_of};
pub(crate) use row::{ended, phase, row, submitted};
pub(crate) use submit::several;
pub(crate) use usual::newest_alike;

#[cfg(test)]
pub(crate) use row::tests;
