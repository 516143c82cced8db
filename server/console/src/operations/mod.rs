//! Operations: the rows people see, and what submitting one means.

mod arguments;
mod catalogue;
mod commands;
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

pub(crate) use outcome::{progress, why};
pub(crate) use queue::ahead;
pub(crate) use row::{action, by_age, is_script, phase, row};
pub(crate) use submit::several;

#[cfg(test)]
pub(crate) use row::tests;
