//! `kubeonkube serve`: from settings to a console that answers requests, and an orderly shutdown.
//!
//! [`serve()`] reads like the list of steps. The Kubernetes API comes first, then the controller, the console and the log
//! collector, which use it (`rooms`), then the web server in front of them.

pub(crate) mod address_file;
mod banner;
mod demo;
mod disk_room;
mod kubectl;
mod kubernetes;
mod listen;
mod machines;
mod rooms;
mod serve;
pub mod shutdown;
mod signing_key;
mod tasks;

pub use serve::{ServeError, serve};
