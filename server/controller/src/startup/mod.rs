//! Starting the controllers: the watches and their stores, and which objects each change makes them reconcile.

pub(crate) mod controllers;
mod key;
mod triggers;
pub(crate) mod watches;
