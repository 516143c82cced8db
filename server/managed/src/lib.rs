//! Reads managed clusters: the clusters that operations build, each with its own kubeconfig.
//!
//! A kubeconfig is foreign input: users who build a cluster or write its Secret choose what is in it. So this crate reads only what
//! it needs, and refuses everything that would run programs, read files of this machine, or skip the check of certificates
//! ([`kubeconfig`], [`address`]). One connection per attempt carries all requests, each with a limit of size and time ([`connect`],
//! [`read`]). The newest readings are kept in memory, with their times ([`clusters`]). While an operation
//! runs, a request per second shows whether its cluster answers ([`availability`]).

mod address;
mod availability;
mod certificate;
mod clusters;
mod connect;
mod evictions;
mod kubeconfig;
mod pages;
mod read;
mod soon;
mod source;

pub use availability::{Availability, AvailabilitySettings};
pub use clusters::{Clusters, Reading, Settings};
pub use evictions::{Budget, Evictions};
pub use source::{Found, find, place};
