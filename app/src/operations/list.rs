//! All operations of all clusters.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::table::OperationsTable;
use crate::routes;
use crate::ui::{Icon, PageTitle, icon};

#[component]
pub fn OperationListPage() -> impl IntoView {
    let query = use_query_map();
    let cluster = move || query.read().get("cluster").unwrap_or_default();
    view! {
        <PageTitle text="Operations">
            <a class="btn primary" href=move || routes::new_operation(&cluster(), "")>
                {icon(Icon::Play)}
                "Run an operation"
            </a>
        </PageTitle>
        <OperationsTable/>
    }
}
