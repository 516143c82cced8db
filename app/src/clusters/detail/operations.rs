//! The Operations tab: the operations list, limited to this cluster.

use leptos::prelude::*;

use super::super::current::CurrentCluster;
use crate::operations::OperationsTable;

#[component]
pub fn ClusterOperationsPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    view! { <OperationsTable cluster=here.name/> }
}
