//! A cluster's inputs: read fresh, changed with a precondition.

mod change;
mod inputs;
mod requests;
mod shown;
mod ssh_access;
mod version;

pub(crate) use inputs::Inputs;
