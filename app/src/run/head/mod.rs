//! The head of the page: title, status, and the actions on the run.

pub(super) mod cancel;
pub(super) mod cancel_form;
pub(super) mod title;
