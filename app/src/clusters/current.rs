//! The context that the pages of a cluster share.

use api::cluster::ClusterDetail;
use leptos::prelude::*;

use crate::json::Data;

/// The cluster in the URL, shared by all tabs through the context.
#[derive(Clone, Copy)]
pub(super) struct CurrentCluster {
    pub(super) name: Memo<String>,
    pub(super) detail: Data<ClusterDetail>,
    /// Increases whenever something of this cluster has changed.
    pub(super) news: Signal<u64>,
}
