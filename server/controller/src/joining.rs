//! Machines that join hosted clusters. This crate doesn't host clusters; the binary connects it with the one that does.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use crd::{Cluster, ClusterOperation};
use serde_json::{Map, Value};

/// Lets the machines of an operation join a hosted cluster.
#[async_trait]
pub trait Joining: Debug + Send + Sync {
    /// What the operation's playbook needs, with a token that is valid for this operation only. It may be asked several times.
    ///
    /// # Errors
    /// A sentence: why machines can't join now.
    async fn access(&self, cluster: &Cluster, operation: &ClusterOperation) -> Result<Access, String>;

    /// Deletes the token, because the operation has ended.
    async fn end(&self, cluster: &Cluster, operation: &ClusterOperation);
}

/// Variables of the playbook that joins machines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Access {
    /// Everybody who can see the operation may read them.
    pub variables: Map<String, Value>,
    /// No output of the run may contain their values.
    pub secrets: BTreeMap<String, String>,
}
