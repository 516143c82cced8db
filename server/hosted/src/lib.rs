//! Hosted clusters: the server runs their control planes as pods, in the Kubernetes cluster where it runs itself.
//!
//! A reconcile of a Cluster with `spec.hosted` does these steps in this order, and stops at the first that isn't done ([`steps`]):
//!
//! 1. The spec and the other hosted clusters are checked ([`check`]).
//! 2. The Service of the API server has an address ([`address`]).
//! 3. Keys, certificates and kubeconfigs are stored in Secrets ([`certificates`]).
//! 4. etcd is ready.
//! 5. The API servers are ready, and their address answers.
//! 6. The first objects in the new cluster exist ([`bootstrap`]), also those with which machines join ([`joining`]).
//! 7. Controller manager and scheduler are ready.
//! 8. The add-ons are stored in the new cluster ([`addons`]).
//!
//! Each step can be repeated: it reads what exists, and writes only what is missing or different ([`objects`] are pure functions). So it
//! doesn't matter where a crash interrupts it, or if two replicas of the server do the same. The state is in `status.hosted`
//! ([`status`]). Deletion is the same in reverse, held by a finalizer ([`delete`]).
//!
//! Machines join with operations. Each gets a token of its own ([`Machines`]).

#![warn(missing_docs)]

mod addons;
mod address;
mod api;
mod bootstrap;
mod certificates;
mod check;
mod context;
mod delete;
mod joining;
mod machines;
mod networks;
mod objects;
mod reconcile;
mod status;
mod steps;
mod stop;
mod trouble;
mod versions;
mod watch;

pub use context::{Config, Reach};
pub use machines::{Access, Machines};
pub use watch::{Wake, start};
