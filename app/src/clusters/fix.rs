//! Links from an alert to the editor that fixes what it reports.

use api::configuration::Document;
use leptos::prelude::*;

use crate::routes;

/// The URL of the editor of `document`.
pub(crate) fn editor(cluster: &str, document: Document) -> String {
    routes::with_query(&routes::cluster_tab(cluster, "configuration"), &[("show", document.shown_at())])
}

/// `Open the inventory`, `Open the variables` or `Open SSH access`.
#[component]
pub(crate) fn FixLink(
    #[prop(into)] cluster: String,
    fix: Document,
    #[prop(default = "btn small")] class: &'static str,
) -> impl IntoView {
    let words = match fix {
        Document::Inventory => "Open the inventory",
        Document::Variables => "Open the variables",
        Document::HostKeys => "Open SSH access",
    };
    view! { <a class=class href=editor(&cluster, fix)>{words}</a> }
}
