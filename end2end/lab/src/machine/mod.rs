//! Machines: containers that look like real machines. Each has its own disk, namespaces and cgroups, and runs systemd, sshd
//! and Python.
//!
//! - [`description`] — what a machine is and its state: the files that supervisor and command line share
//! - [`disk`] — the disk, with the files of a first boot
//! - [`container`] — the configuration for runc
//! - [`supervisor`] — the process that boots a machine, again after each reboot, and writes its state
//! - [`control`], [`power`], [`network`] — the handle for tests and the command line: SSH and logs; start, stop and reset;
//!   the network cable

pub(crate) mod container;
pub mod control;
pub(crate) mod description;
pub(crate) mod disk;
mod network;
mod power;
pub mod supervisor;

pub use control::Machine;
pub use description::{Power, State};
