//! Clusters: lists, details, registration and unregistration.

mod counts;
mod detail;
mod health;
mod kubeconfig;
mod kubeconfig_commands;
mod list;
mod live;
mod nodes;
mod register;
mod requests;
mod row;
mod unregister;

pub(crate) use counts::NodeCounts;
pub(crate) use kubeconfig_commands::commands as kubeconfig_commands;
pub(crate) use live::join;
pub(crate) use nodes::rows;
pub use register::UNFINISHED;
pub(crate) use register::{EXISTING, Registering, machines, settings};
