//! The form that submits an operation: what to run, where and with which options, followed by a review.

mod actions;
mod functions;
mod page;
mod parameters;
mod review;

pub use page::NewOperationPage;
