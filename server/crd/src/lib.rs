//! The custom resources `Cluster` and `ClusterOperation` (`kubeonkube.clay.io/v1alpha1`, both cluster-scoped), and the
//! names, labels and conditions that all crates share. `deploy/crd/` is generated from this crate.

mod cluster;
mod conditions;
mod definition;
mod engine;
mod fingerprint;
mod hosted;
mod names;
mod operation;
mod reference;
mod snapshot;

pub use cluster::{Cluster, ClusterSpec, ClusterStatus, OperationRecord};
pub use conditions::{Fact, RESTORED, Standing, UNSEEN, condition, is_true, set_standing, upsert};
pub use definition::{all, render};
pub use engine::Engine;
pub use fingerprint::{inputs_sha256, ssh_key_id};
pub use hosted::{
    EndpointType, Hosted, HostedAddons, HostedCoreDns, HostedEndpoint, HostedEtcd, HostedKubeProxy, HostedNetworking,
    HostedStatus,
};
pub use names::*;
pub use operation::{
    ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, ClusterOperationStatus, HookAction, Phase, Recap,
    ResolvedInputs,
};
pub use reference::{DataRef, JobRef};
pub use snapshot::Snapshot;

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
