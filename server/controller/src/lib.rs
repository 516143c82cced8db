//! The controller: makes a Job of each ClusterOperation and records how it ended. It also reconciles Clusters.
//!
//! An operation takes these steps, and [`reconcile`] calls them one after the other:
//!
//! 1. It waits for its turn, the exclusive right to run on its cluster ([`turn`]).
//! 2. Its inputs are read and checked ([`inputs`]). Then it takes the turn: an entry in the Cluster's status ([`turn::history`]). If
//!    the operation before it has handed it the turn, that entry exists already when the inputs are read.
//! 3. Its snapshot and its Job are created ([`job`]).
//! 4. The Job is observed and judged ([`verdict`]). If the run has a secret result, that is stored ([`secret_result`]).
//! 5. The result is recorded, and the next operation gets the turn ([`ending`]). An operation that ends without a Job leaves a
//!    placeholder Job ([`job::placeholder`]).
//!
//! Each step is a stage: an async function that takes values, makes requests, and returns the next step ([`next::Next`]). Decisions are
//! pure functions. Correctness depends only on three things: the preconditions of the writes, names that only one object can have, and
//! the snapshot. It doesn't depend on stores that are up to date, or on a single running controller.

#![warn(missing_docs)]

mod clock;
mod cluster;
mod config;
mod context;
mod ending;
mod error;
mod inputs;
mod job;
mod joining;
mod label;
mod memory;
mod next;
mod ownership;
mod reconcile;
mod request;
mod secret_result;
mod startup;
mod status;
mod turn;
mod verdict;
mod watch;

pub use config::{Config, INPUTS_TIMEOUT};
pub use joining::{Access, Joining};
pub use operation::{Signer, Signing};
pub use startup::controllers::{Running, start};
pub use watch::change::{Change, ChangeKind};
pub use watch::unread::Unread;
