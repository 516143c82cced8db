//! The form that submits an operation: what to run, where, and with what; then a review of everything it will do.

mod actions;
mod functions;
mod page;
mod parameters;
mod review;

pub use page::NewOperationPage;
