//! The Job of an operation, from its creation to the verdict: is it running, and how did it end?

mod cause;
pub(crate) mod judge;
pub(crate) mod lost;
pub(crate) mod observe;
mod termination;
