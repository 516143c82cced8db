//! The form that submits an operation: what to run, where and with which options, followed by a review.

mod actions;
mod functions;
mod page;
mod parameters;
mod review;
mod source;

pub use page::NewOperationPage;
pub(crate) use review::{Commands, notes, reviewed};
