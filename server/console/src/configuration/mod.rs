//! Reads a cluster's inputs without a cache, and changes them only if they are still at the reviewed version.

mod change;
mod inputs;
mod requests;
mod secret_variables;
mod shown;
mod ssh_access;
mod version;

pub(crate) use inputs::{Input, Inputs};
pub(crate) use secret_variables::warnings as secret_variables_warnings;
