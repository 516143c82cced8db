//! The pages of one cluster: header, tabs and the content of each tab.

mod live_state;
mod nodes;
mod operations;
mod overview;

use api::ClusterName;
use api::cluster::{ClusterRow, Version};
use api::live::Topic;
use api::operation::Phase;
use leptos::prelude::*;
use leptos_router::components::Outlet;
use leptos_router::hooks::use_params_map;

use super::current::CurrentCluster;
use super::functions::load_cluster;
use super::health;
use crate::json::data;
use crate::ui::{Ago, Alert, Chip, Icon, Loaded, PageTitle, Since, Tab, Tabs, Tone, icon};
use crate::words::count;
use crate::{live, routes};

pub(super) use live_state::LivePanel;
pub use nodes::ClusterNodesPage;
pub use operations::ClusterOperationsPage;
pub use overview::ClusterOverviewPage;

/// The header and the tabs. The router renders the open tab into the outlet.
#[component]
pub fn ClusterPage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.read().get("name").unwrap_or_default());
    // The router keeps this component when only the name in the URL changes, so the subscription must follow the name.
    let topic = Memo::new(move |_| live::use_topic(Topic::Cluster(name.get())));
    let news = Signal::derive(move || topic.get().get());
    let detail = data(move || (news.get(), name.get()), |(_, name)| load_cluster(name));
    provide_context(CurrentCluster { name, detail, news });
    view! {
        <Loaded resource=detail rows=2 title=name let:detail>
            <Header row=detail.row.clone() creatable=detail.creatable upgrade=detail.live.newer now=detail.now/>
            <ClusterTabs name=detail.row.name/>
            {detail.wrong_engine.map(|why| view! { <Alert tone=Tone::Err title="Playbooks of another engine"><p>{why}</p></Alert> })}
        </Loaded>
        // Outside `Loaded`, whose view is built twice on the server: a tab inside would load its data twice. If the cluster
        // doesn't exist, the style sheet hides the tab.
        <div class="stack tab-body"><Outlet/></div>
    }
}

#[component]
fn ClusterTabs(name: ClusterName) -> impl IntoView {
    let tab = |word, at: &str| Tab {
        href: if at.is_empty() { routes::cluster(&name) } else { routes::cluster_tab(&name, at) },
        word,
    };
    let tabs = vec![
        tab("Overview", ""),
        tab("Nodes", "nodes"),
        tab("Operations", "operations"),
        tab("Configuration", "configuration"),
    ];
    view! { <Tabs label="Cluster" tabs/> }
}

#[component]
fn Header(row: ClusterRow, creatable: bool, upgrade: Option<Version>, now: api::Time) -> impl IntoView {
    // What must be fixed first has its own button, in the overview.
    let (create, run) = match (row.fix.is_some(), creatable) {
        (true, _) => ("btn", "btn"),
        (false, true) => ("btn primary", "btn"),
        (false, false) => ("btn", "btn primary"),
    };
    let create = creatable.then(|| {
        view! { <a class=create href=routes::cluster_tab(&row.name, "create")>"Create the cluster"</a> }
    });
    let chip = view! { <Chip tone=health::tone(row.health) word=row.health_word.clone()/> }.into_any();
    let nodes = row.nodes.map(|n| count(n.into(), "node", "nodes"));
    let last = row.last.clone().map(|last| {
        let when = match last.phase {
            Phase::Running => {
                view! { "running for " <Since start=last.started.unwrap_or(last.submitted) now/> }.into_any()
            }
            Phase::Queued => view! { "queued for " <Since start=last.submitted now/> }.into_any(),
            _ => view! { "last operation " <Ago time=last.ended.unwrap_or(last.submitted) now/> }.into_any(),
        };
        let by = if last.by.is_empty() { String::new() } else { format!(" by {}", last.by) };
        view! { <a class="link-quiet" href=routes::operation(&last.name)>{when} {by}</a> }
    });
    let to_upgrade = routes::cluster_tab(&row.name, "upgrade");
    let menu = NodeRef::<leptos::html::Details>::new();
    // This header stays when one of its links leads to another tab.
    let close = move |_| {
        if let Some(menu) = menu.get_untracked() {
            menu.set_open(false);
        }
    };
    let dot = (nodes.is_some() && last.is_some()).then_some(" · ");
    view! {
        <PageTitle text=row.name.to_string() aside=view! { {chip} <span class="muted">{nodes} {dot} {last}</span> }.into_any()>
            <details class="menu" node_ref=menu>
                <summary class="btn">"More"</summary>
                <div class="menu-body" on:click=close>
                    <a href=to_upgrade.clone()>"Upgrade…"</a>
                    <a class="danger" href=routes::cluster_tab(&row.name, "unregister")>"Unregister…"</a>
                </div>
            </details>
            {create}
            {upgrade.map(|to| view! { <a class="btn" href=to_upgrade>{format!("Upgrade to {to}")}</a> })}
            <a class=run href=routes::new_operation(row.name.as_str(), "")>{icon(Icon::Play)} "Run an operation"</a>
        </PageTitle>
    }
}
