//! The list of clusters: health, running operations and who started them.

mod query;
mod table;
mod tiles;

use api::live::Topic;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use query::{filter_of, views};
use table::ClusterTable;
use tiles::Tiles;

use super::functions::load_clusters;
use crate::json::data;
use crate::ui::{Empty, Filter, Icon, Loaded, PageTitle, Segments, icon, when_known};
use crate::{live, routes};

#[component]
pub fn ClusterListPage() -> impl IntoView {
    let query = use_query_map();
    let filter = Memo::new(move |_| filter_of(&query.read()));
    let news = live::use_topic(Topic::Clusters);
    let clusters = data(move || (news.get(), filter.get()), |(_, filter)| load_clusters(filter));
    let keep =
        Signal::derive(move || filter.with(|f| vec![("show", f.show.to_string()), ("sort", f.sort.to_string())]));
    let tiles =
        when_known(clusters, |list| list.ok().filter(|l| l.totals.all > 0).map(|l| view! { <Tiles totals=l.totals/> }));
    view! {
        <PageTitle text="Clusters">
            <a class="btn primary" href=routes::NEW_CLUSTER>{icon(Icon::Plus)} "Register a cluster"</a>
        </PageTitle>
        <Transition>{tiles}</Transition>
        <div class="bar">
            <Filter
                action=routes::CLUSTERS
                q=Signal::derive(move || filter.with(|f| f.q.clone()))
                keep=keep
                label="Filter by name, label or version"
            />
            <Segments label="Which clusters" segments=Signal::derive(move || filter.with(views))/>
        </div>
        <Loaded resource=clusters let:list>
            {
                let filter = filter.get_untracked();
                if list.totals.all == 0 {
                    view! { <NoClustersYet/> }.into_any()
                } else if list.rows.is_empty() {
                    view! { <NoneMatches/> }.into_any()
                } else {
                    view! { <ClusterTable list filter/> }.into_any()
                }
            }
        </Loaded>
    }
}

#[component]
fn NoClustersYet() -> impl IntoView {
    view! {
        <section class="panel first-use">
            <Empty
                title="No clusters yet"
                text="Register a cluster with a name, the addresses of its machines and an SSH key. Nothing runs on the machines until you start an operation."
            >
                <a class="btn primary" href=routes::NEW_CLUSTER>{icon(Icon::Plus)} "Register a cluster"</a>
            </Empty>
        </section>
    }
}

#[component]
fn NoneMatches() -> impl IntoView {
    view! {
        <section class="panel">
            <Empty title="No cluster matches" text="None of the clusters matches the filter.">
                <a class="btn" href=routes::CLUSTERS>"Show all clusters"</a>
            </Empty>
        </section>
    }
}
