//! Answers what the pages ask for from a Kubernetes API: all traits of `api::backend` except the one for logs.
//!
//! Lists and topics come from the stores that the controller keeps; every write, and every read of ConfigMaps and Secrets,
//! uses the person's own token if there is one.

mod access;
mod changes;
mod clusters;
mod configuration;
mod console;
mod host_keys;
mod kube_problem;
mod made;
mod moment;
mod operations;
mod page;
mod ssh;

pub use access::{UserClients, user_clients};
pub use changes::Change;
pub use clusters::UNFINISHED;
pub use console::{Console, Options, Playbooks, start};
