//! The end of an operation, in an order that survives a crash between any two writes:
//!
//! 1. An operation that has the turn but no Job gets a placeholder Job ([`abandon`]). One that never had the turn gets a final entry in
//!    the Cluster's history instead ([`refuse`]).
//! 2. Label and result are written on the operation in one request. From then on no replica starts it ([`finish`]).
//! 3. Its status is written ([`finish`]).
//! 4. The turn is given back, or handed to the next operation ([`hand_over`]).
//!
//! An operation that a crash left between these steps is completed later ([`settle`]).

pub(crate) mod abandon;
pub(crate) mod finish;
mod hand_over;
pub(crate) mod refuse;
pub(crate) mod settle;
