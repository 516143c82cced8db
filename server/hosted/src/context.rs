//! What every reconcile gets.

use std::collections::HashMap;

use crd::{Cluster, HostedStatus};
use kube::runtime::reflector::Store;
use kube::{Api, Client};
use parking_lot::Mutex;

use crate::watch::Watches;

/// How this program reaches the API servers that it hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It runs in a pod: by the ClusterIP of the Service.
    Inside,
    /// It runs elsewhere: by the address for users, so a cluster with an endpoint of type ClusterIP doesn't become ready.
    Outside,
    /// The API is the embedded one, which runs no pods. No cluster can be hosted.
    Never,
}

/// The settings.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// How hosted API servers are reached.
    pub reach: Reach,
}

/// Client, settings and memory.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) config: Config,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) watches: Watches,
    /// The status that was last written, by the uid of the Cluster. The store may be behind.
    pub(crate) written: Mutex<HashMap<String, HostedStatus>>,
}

impl Context {
    pub(crate) fn clusters_api(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }
}
