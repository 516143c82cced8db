//! Machines: systemd, sshd and Python on a disk of their own, in namespaces and cgroups of their own.
//!
//! - [`description`] — what a machine is, as written for its supervisor
//! - [`disk`] — what it finds on its disk at its first boot
//! - [`container`] — the same as a configuration for runc
//! - [`supervisor`] — boots it, boots it again when it reboots, tells its state
//! - [`power`], [`control`] — what the outside can do to it: power and disk; network, SSH

pub(crate) mod container;
pub mod control;
pub(crate) mod description;
pub(crate) mod disk;
mod power;
pub mod supervisor;

pub use control::Machine;
pub use description::{Power, State};
