//! The end of an operation, in an order that survives a crash between any two writes:
//!
//! 1. An operation that has the turn but no Job gets a placeholder Job ([`abandon`]). One that never had the turn gets a final entry in
//!    the Cluster's history instead ([`refuse`]).
//! 2. Label and result are written on the operation in one request. From then on no replica starts it ([`record`]).
//! 3. Its status is written ([`record`]).
//! 4. The turn is given back, or handed to the next operation ([`hand_over`]).
//!
//! An operation that a crash left between these steps is completed later ([`repair`]).
//!
//! Each stage has its variant of [`Next`](crate::next::Next):
//!
//! | variant | the operation | what the stage does |
//! |---|---|---|
//! | `Refuse` | never had the turn | writes a final entry into the Cluster's history, then `Record` |
//! | `Abandon` | has the turn, but no Job | creates the placeholder, then `Record` |
//! | `Record` | has a result that is not recorded yet | writes label and result on the operation, then `Publish` |
//! | `Publish` | has a recorded result | writes the final status, and gives the turn back or hands it over |
//! | `Repair` | had ended before this reconcile | finds out which of these writes are missing, and continues there |

pub(crate) mod abandon;
mod hand_over;
pub(crate) mod record;
pub(crate) mod refuse;
pub(crate) mod repair;
