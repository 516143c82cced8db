//! Creates Kubernetes on the machines of a registered cluster: reads how far it is, and submits the operations.
//!
//! Nothing is stored for this page. Its steps follow from the inputs, the newest operations and what was read from the cluster itself.

mod plan;
mod read;
mod requests;
mod results;
mod stage;

pub(crate) use read::is_creatable;
