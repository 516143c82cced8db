//! The vocabulary of the console: the types that pages, server functions and the crates behind them share.
//!
//! Safe for wasm: no Kubernetes client, no Leptos, no YAML parser. It parses names and forms; whatever needs a cluster is checked by the server.

pub mod backend;
pub mod cluster;
pub mod configuration;
pub mod live;
pub mod log;
mod name;
pub mod operation;
mod problem;
pub mod progress;
pub mod run;
mod time;
mod user;

pub use backend::Backend;
pub use name::{ClusterName, NameError, OperationName};
pub use problem::{FieldProblem, Problem};
pub use time::{Time, duration};
pub use user::User;
