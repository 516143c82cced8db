//! The lab: a real Kubernetes and real machines on one Linux computer, without a container engine, for tests.
//!
//! `docs/lab.md` tells what it is and how it is used from the command line (`cargo xtask lab`). This crate is the lab
//! itself, and what test suites use of it: [`Lab::shared`] attaches to the running lab or boots one.
//!
//! - [`build`] — the parts it is made of
//! - [`addresses`], [`namespaces`], [`cgroups`], [`process`] — its place on the computer
//! - [`machine`] — machines
//! - [`cluster`] — the lab's own Kubernetes
//! - [`boot`], [`teardown`], [`guard`], [`record`], [`claim`], [`requirements`] — its life
//! - [`running`] — the running lab, for tests and for the command line; [`sharing`] — one lab for many test suites
//! - [`inside`], [`client`] — reaching into it
//! - [`wait`], [`error`], [`files`], [`program`], [`layout`], [`keys`], [`kubeconfig`] — tools of the above

pub mod addresses;
pub mod boot;
pub mod build;
mod cgroups;
mod claim;
mod client;
mod cluster;
mod error;
mod files;
pub mod guard;
mod inside;
mod keys;
pub mod kubeconfig;
mod layout;
pub mod machine;
mod namespaces;
mod process;
mod program;
mod record;
pub mod requirements;
pub mod running;
mod sharing;
pub mod teardown;
pub mod wait;

pub use build::contents::{PROBE, RUNNER};
pub use error::Error;
pub use inside::Inside;
pub use layout::Layout;
pub use machine::Machine;
pub use running::Lab;
