//! The reconcile of a Cluster: its inputs, the turns of deleted operations, and the removal of old operations.

pub(crate) mod reconcile;
pub(crate) mod references;
mod retention;
