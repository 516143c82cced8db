//! Operations: lists, details, review and submission.

mod again;
mod arguments;
mod catalogue;
mod detail;
mod list;
mod outcome;
mod parameters;
mod plan;
mod queue;
mod requests;
mod row;
mod submit;
mod warnings;

pub(crate) use catalogue::Catalogue;
pub(crate) use outcome::why;
pub(crate) use queue::ahead;
pub(crate) use row::{phase, row};
pub(crate) use submit::several;

#[cfg(test)]
pub(crate) use row::tests;
