//! The secret result of a run, such as the kubeconfig of a new cluster (docs/adr/0015).
//!
//! The run encrypts it with a key from the snapshot ([`cipher`]) and writes it as the last event of its log ([`log`]). Before the
//! operation's result is recorded, the controller reads it there and stores it in Secrets ([`store`]). A result that can't be read or
//! stored for too long is lost, and the operation says so ([`deliver`]). When a run has reset the whole cluster, its kubeconfig is deleted
//! ([`discard`]).

mod cipher;
pub(crate) mod deliver;
mod discard;
mod log;
mod store;

pub(crate) use cipher::new_key;
