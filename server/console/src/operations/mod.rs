//! Operations: the rows people see, and what submitting one means.

mod arguments;
mod catalogue;
mod detail;
mod form;
mod list;
mod outcome;
mod plan;
mod queue;
mod requests;
mod row;
mod submit;
mod warnings;

pub(crate) use outcome::why;
pub(crate) use queue::ahead;
pub(crate) use row::{phase, row};
pub(crate) use submit::several;

#[cfg(test)]
pub(crate) use row::tests;
