//! News of what changed, for everybody who keeps something up to date from the stores.

use std::sync::Arc;

use tokio::sync::broadcast;

/// What kind of object changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A Cluster.
    Cluster,
    /// A ClusterOperation.
    Operation,
    /// The Job or a pod of an operation; `name` is the operation's.
    Run,
    /// A ConfigMap, perhaps one that a Cluster refers to; `name` is `namespace/name`.
    Inputs,
    /// The controller's settings.
    Settings,
    /// A watch began anew: anything may have changed.
    Everything,
}

/// One change. The stores show it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub kind: ChangeKind,
    /// Its name.
    pub name: Arc<str>,
    /// The Cluster it belongs to; empty where it belongs to none.
    pub cluster: Arc<str>,
}

impl Change {
    pub(crate) fn new(kind: ChangeKind, name: &str, cluster: &str) -> Self {
        Self { kind, name: name.into(), cluster: cluster.into() }
    }

    pub(crate) fn everything() -> Self {
        Self::new(ChangeKind::Everything, "", "")
    }
}

/// How many changes a slow reader may fall behind. One that falls behind further is told `Lagged`, and has to take it as
/// [`ChangeKind::Everything`]; writers never wait.
pub(crate) const BUFFER: usize = 4096;

/// The next change; None when there will be no more.
pub(crate) async fn next(changes: &mut broadcast::Receiver<Change>) -> Option<Change> {
    match changes.recv().await {
        Ok(change) => Some(change),
        Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::everything()),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}
