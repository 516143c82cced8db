//! The lab: a real Kubernetes and real machines on one Linux computer, without a container engine, for tests.
//!
//! `docs/lab.md` describes the lab and its command line (`cargo xtask lab`). This crate contains the lab itself and its API
//! for test suites: [`Lab::shared`] attaches to the running lab or boots one.
//!
//! - [`build`] — builds the parts that a lab is made of: programs, root file systems, images
//! - [`addresses`], [`namespaces`], [`cgroups`], [`process`] — what a lab uses of the computer
//! - [`machine`] — machines
//! - [`cluster`] — the lab's own Kubernetes, the meta-cluster
//! - [`requirements`], [`boot`], [`guard`], [`teardown`] — from the check before a boot to the end of a lab
//! - [`lock`], [`record`] — one lab per computer, and how other processes find it
//! - [`running`] — the running lab, for tests and for the command line; [`sharing`] — one lab for many test suites
//! - [`inside`], [`client`] — programs and connections inside the lab
//! - [`wait`], [`error`], [`files`], [`program`], [`layout`], [`keys`], [`kubeconfig`] — used by the modules above

pub mod addresses;
pub mod boot;
pub mod build;
mod cgroups;
mod client;
mod cluster;
mod error;
mod files;
pub mod guard;
mod inside;
mod keys;
pub mod kubeconfig;
mod layout;
mod lock;
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
