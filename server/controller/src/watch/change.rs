//! Change notifications, for the controller's triggers and for other readers of the stores.

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
    /// A watch has restarted: anything may have changed.
    Everything,
}

/// One change, which the stores show already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub kind: ChangeKind,
    /// The object's name.
    pub name: Arc<str>,
    /// The Cluster that it belongs to; empty if there is none.
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

/// How many changes a slow reader may be behind. A reader that is further behind gets `Lagged` and must treat it as
/// [`ChangeKind::Everything`]. Writers never wait.
pub(crate) const BUFFER: usize = 4096;

/// The next change; None at the end.
pub(crate) async fn next(changes: &mut broadcast::Receiver<Change>) -> Option<Change> {
    match changes.recv().await {
        Ok(change) => Some(change),
        Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::everything()),
        Err(broadcast::error::RecvError::Closed) => None,
    }
}
