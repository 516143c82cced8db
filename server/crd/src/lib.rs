//! The custom resources `Cluster` and `ClusterOperation` (`kubeonkube.clay.io/v1alpha1`, both cluster-scoped), with the
//! names, labels and conditions that every room agrees on. `deploy/crd/` is generated from here.

mod cluster;
mod conditions;
mod definition;
mod fingerprint;
mod names;
mod operation;
mod reference;
mod snapshot;

pub use cluster::{Cluster, ClusterSpec, ClusterStatus, Engine, OperationRecord};
pub use conditions::{Fact, condition, is_true, upsert};
pub use definition::{all, render};
pub use fingerprint::inputs_sha256;
pub use names::*;
pub use operation::{
    ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, ClusterOperationStatus, HookAction, Phase, Recap,
    ResolvedInputs,
};
pub use reference::{DataRef, JobRef};
pub use snapshot::Snapshot;

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
