//! The Operations tab: the operations list, limited to this cluster.

use leptos::prelude::*;

use super::Here;
use crate::operations::OperationsTable;

#[component]
pub fn ClusterOperationsPage() -> impl IntoView {
    let here = expect_context::<Here>();
    view! { <OperationsTable cluster=here.name/> }
}
