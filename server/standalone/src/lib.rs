//! A Kubernetes-shaped API inside the process. Its Jobs are run by the crate `kubeonkube-runner`.
//!
//! [`Api`] keeps objects in one SQLite file and answers like an apiserver does, to a [`kube::Client`] in the same
//! process and to kubectl over HTTPS. It serves what this product and kubectl need; the rest gets 404, 405 or 415 and a
//! Status.

mod admission;
mod api;
mod collector;
mod events;
mod failure;
mod fields;
mod first_objects;
mod http;
mod identity;
mod kind;
pub mod lock;
mod object;
mod patch;
mod pod_log;
mod port;
mod schema;
mod selector;
mod store;
mod verbs;

pub use admission::names::SUFFIX_LETTERS;
pub use api::{Api, ApiService, OpenError, Options};
pub use identity::{IdentityError, TlsIdentity};
pub use kind::CustomError;
pub use pod_log::{LogQuery, LogRefusal, LogSource, LogStream, NoLogs, PodLogs};
pub use store::DiskError;

/// The user behind the token of the HTTPS port.
pub const ADMIN: &str = "kubeonkube:admin";
