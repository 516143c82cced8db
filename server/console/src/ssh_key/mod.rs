//! The private key of a cluster, and its replacement: a new key is stored beside the current one, tested by an operation, and then
//! takes its place. The replaced key stays until the user deletes it, so that the user can go back.

mod change;
mod stored;
mod test;

pub(crate) use stored::{Keys, Slot};
pub(crate) use test::newest;
