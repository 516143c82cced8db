//! The vocabulary of the console: what pages, server functions and the rooms behind them say to each other.
//!
//! Safe for wasm: no Kubernetes client, no Leptos, no YAML parser. The server validates; this crate names things.

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
