//! Clusters: lists, details, registration and unregistration.

mod counts;
mod detail;
mod health;
mod list;
mod nodes;
mod register;
mod requests;
mod row;
mod unregister;

pub(crate) use counts::NodeCounts;
pub(crate) use register::Registering;
pub use register::UNFINISHED;
