//! The form that submits an operation: what, where, with what; then everything it will do, before anything is done.

mod actions;
mod again;
mod draft;
mod functions;
mod page;
mod parameters;
mod review;

#[cfg(feature = "ssr")]
pub(super) use draft::OperationDraft;
pub use page::NewOperationPage;
