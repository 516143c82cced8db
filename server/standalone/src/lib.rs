//! A Kubernetes-shaped API inside the process. The crate `kubeonkube-runner` runs its Jobs.
//!
//! [`Api`] keeps objects in one SQLite file and answers like an API server, to a [`kube::Client`] in this process and to
//! kubectl over HTTPS. It serves what kubectl, kube-rs and this product use, measured on the wire:
//!
//! - Namespace, ConfigMap, Secret, Pod, ServiceAccount, Event, Job, Lease, Role, RoleBinding and CustomResourceDefinition,
//!   and the custom resources given at start; every verb, watches included; server-side apply; the garbage collector.
//! - Kinds such as Deployment that can be listed and deleted, and of which there are never any objects.
//! - Discovery in both forms, OpenAPI v3, Tables, pod logs, and the reviews that `kubectl auth` sends.
//!
//! `docs/kubectl.md` lists where kubectl sees a difference to a real API server.
//!
//! Everything else is refused, with a Status unless the API server answers in plain text:
//!
//! - 404: other kinds, and subresources such as `/scale`, `/eviction`, `/exec` and `/portforward`.
//! - 405: writes of CustomResourceDefinitions, which are installed with the program, and of the kinds without objects.
//! - 400 and 410: `continue`, and lists of a past revision. `limit` is ignored: a list is complete.
//! - 406: answers in YAML. Bodies may be YAML.
//! - 413: bodies above 3 MiB, objects above 1.5 MiB, and JSON patches that grow an object too much (`limits`).
//!
//! Only stored: Roles and RoleBindings, because the token gives every right; ServiceAccounts, which get no tokens; and Jobs
//! and Pods, which need the runner.
//!
//! # How a request is answered
//!
//! 1. A request comes over HTTPS (`port`, with the certificate of `identity`) and is authenticated by its token, or from a client
//!    in this process (`api`).
//! 2. `http` finds out what the path means. It turns path, query and body into values of `request` and calls a verb.
//! 3. `verbs` carries it out. A write computes the new object with `patch` or `fields` (server-side apply), and `admission` checks
//!    it, for custom resources against their `schema`.
//! 4. `store` writes the object to disk and then makes it visible. Reads are answered from memory, watches from the history of
//!    changes.
//! 5. `http` answers in the form that the client accepts. A refusal is a `failure`, with its `cause`s.
//!
//! Beside the requests, `first_objects` writes the first objects at start, and `collector` deletes objects whose owners are gone.

mod admission;
mod api;
mod cause;
mod collector;
mod events;
mod failure;
mod fields;
mod first_objects;
mod http;
mod identity;
mod kind;
mod limits;
pub mod lock;
mod object;
mod patch;
mod pod_log;
mod port;
mod request;
mod schema;
mod selector;
mod store;
mod verbs;

pub use admission::names::SUFFIX_LETTERS;
pub use api::{Api, ApiService, OpenError, Options};
pub use failure::NO_ROOM;
pub use http::ADMIN;
pub use identity::{IdentityError, TlsIdentity};
pub use kind::CustomError;
pub use pod_log::{LogQuery, LogRefusal, LogSource, LogStream, PodLogs};
pub use store::{DiskError, Newest};
