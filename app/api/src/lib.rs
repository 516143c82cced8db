//! The types that the console's pages, server functions and backends share.
//!
//! Compiles to small wasm: no Kubernetes client, no Leptos, no YAML parser. It parses names and forms. The server checks
//! everything that needs a cluster.

pub mod availability;
pub mod backend;
pub mod cluster;
pub mod configuration;
pub mod input;
pub mod live;
pub mod log;
pub mod machine;
mod name;
pub mod operation;
mod problem;
pub mod progress;
pub mod run;
pub mod sort;
mod time;
mod user;
pub mod watch;
mod words;

pub use backend::Backend;
pub use name::{ClusterName, NameError, OperationName};
pub use problem::{FieldProblem, Problem};
pub use time::{Time, duration};
pub use user::User;
pub use words::{count, thousands};
