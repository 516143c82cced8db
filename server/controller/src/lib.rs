//! The reconcilers: from a ClusterOperation to a Job and its verdict.
//!
//! An operation goes one way: it waits for its turn ([`turn`], [`waiting`]), its inputs are read ([`inputs`]) and checked ([`validate`]), it
//! takes its turn by an entry in the Cluster's status ([`history`]), its snapshot and Job are created ([`build`], [`children`]),
//! its Job is judged ([`verdict`], [`cause`]), and its end is recorded ([`finish`]); one that ends without a Job leaves a [`tombstone`]. Everything but the requests themselves is a function of
//! values. Correctness rests on the preconditions of the writes, never on a store being up to date or on being alone.

#![warn(missing_docs)]

mod build;
mod cause;
mod change;
mod changed;
mod children;
mod cluster;
mod context;
mod error;
mod expectations;
mod finish;
mod history;
mod inputs;
mod lifecycle;
mod marks;
mod observe;
mod operation;
mod outcome;
mod plan;
mod references;
mod refusal;
mod retention;
mod run;
mod secrets;
mod sentence;
mod settle;
mod snapshot;
mod start;
mod status;
mod termination;
mod tombstone;
mod trigger;
mod turn;
mod unread;
mod validate;
mod verdict;
mod waiting;
mod watching;

pub use change::{Change, ChangeKind};
pub use run::{Config, Running, start};
pub use unread::Unread;
