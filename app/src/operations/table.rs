//! The table of operations with its filters and pages. The URL holds the filter, the sort order and the page.

use api::live::Topic;
use api::operation::{OperationColumn, OperationFilter, OperationList};
use leptos::prelude::*;
use leptos::tachys::reactive_graph::OwnedView;
use leptos::tachys::view::keyed::keyed;
use leptos_router::hooks::use_query_map;

use super::first_run::FirstRun;
use super::functions::load_operations;
use super::query::{filter_of, narrows, views};
use super::row::Row;
use crate::json::data;
use crate::ui::{Empty, Filter, Icon, Loaded, Pages, Segments, SortHeader, dynamic, icon, optional};
use crate::words::count;
use crate::{live, routes};

/// The operations that the URL selects: of all clusters, or of one.
#[component]
pub fn OperationsTable(
    /// The cluster whose page shows the table. Empty on the operations page, which shows all clusters.
    #[prop(optional, into)]
    cluster: Signal<String>,
) -> impl IntoView {
    let query = use_query_map();
    let path = Memo::new(move |_| match cluster.get() {
        name if name.is_empty() => routes::OPERATIONS.to_owned(),
        name => routes::cluster_tab(&name, "operations"),
    });
    // The filter in the URL. On a cluster's page the path names the cluster, not the query.
    let filter = Memo::new(move |_| {
        let filter = filter_of(&query.read());
        if cluster.get().is_empty() { filter } else { OperationFilter { cluster: String::new(), ..filter } }
    });
    let news = live::use_topic(Topic::Operations);
    let asked = move || {
        let mut filter = filter.get();
        let here = cluster.get();
        if !here.is_empty() {
            filter.cluster = here;
        }
        (news.get(), filter)
    };
    let list = data(asked, |(_, filter)| load_operations(filter));
    let keep = Signal::derive(move || {
        filter.with(|f| {
            vec![("cluster", f.cluster.clone()), ("phase", f.phase.to_string()), ("sort", f.sort.to_string())]
        })
    });
    let segments = Signal::derive(move || filter.with(|filter| path.with(|path| views(path, filter))));
    let owner = Owner::current().expect("a component has an owner");
    view! {
        <div class="bar">
            {dynamic(move || {
                view! {
                    <Filter
                        action=path.get()
                        q=Signal::derive(move || filter.with(|f| f.q.clone()))
                        keep=keep
                        label="Filter by name, cluster or action"
                    />
                }
            })}
            <Segments label="Which operations" segments=segments/>
            {optional(move || {
                let filter = filter.get();
                (!filter.cluster.is_empty())
                    .then(|| {
                        let without = routes::operations(&OperationFilter { cluster: String::new(), page: 0, ..filter.clone() });
                        view! {
                            <a class="btn small" href=without title="Show all clusters">
                                {format!("Cluster {}", filter.cluster)}
                                {icon(Icon::Close)}
                            </a>
                        }
                    })
            })}
        </div>
        <Loaded resource=list let:list>
            {
                let (filter, path, here) = (filter.get_untracked(), path.get_untracked(), cluster.get_untracked());
                if list.rows.is_empty() && !narrows(&filter) && filter.page < 2 {
                    view! { <NothingRan cluster=here/> }.into_any()
                } else if list.rows.is_empty() {
                    view! { <NoneMatches path/> }.into_any()
                } else {
                    view! { <Table list filter path with_cluster=here.is_empty() owner=owner.clone()/> }.into_any()
                }
            }
        </Loaded>
    }
}

#[component]
fn Table(
    list: OperationList,
    filter: OperationFilter,
    path: String,
    with_cluster: bool,
    /// Owns the rows. Unlike this component, which is made again with each load, it stays as long as the page.
    owner: Owner,
) -> impl IntoView {
    let now = list.now;
    let header = |word, column, falls| {
        let (kept, path) = (filter.clone(), path.clone());
        let link = move |sort| routes::operations_at(&path, &OperationFilter { sort, page: 0, ..kept.clone() });
        view! { <SortHeader word column sort=filter.sort link falls/> }
    };
    let at_page = {
        let (kept, path) = (filter.clone(), path.clone());
        move |page| routes::operations_at(&path, &OperationFilter { page, ..kept.clone() })
    };
    let of = count(list.matching.into(), "operation", "operations");
    // An unchanged row keeps its elements, so focus and selection survive changes of other rows.
    let key = |row: &api::operation::OperationRow| {
        format!("{} {:?} {} {:?} {:?} {}", row.name, row.phase, row.cancelling, row.started, row.ended, row.message)
    };
    let rows = keyed(list.rows, key, move |_, row| {
        let owner = owner.with(Owner::new);
        let view = owner.with(|| view! { <Row row now with_cluster/> });
        (|_| (), OwnedView::new_with_owner(view, owner))
    });
    view! {
        <section class="panel scroll" tabindex="0" aria-label="Operations">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Status"</th>
                        {header("Action", OperationColumn::Action, false)}
                        {with_cluster.then(|| header("Cluster", OperationColumn::Cluster, false))}
                        <th scope="col" class="secondary">"By"</th>
                        {header("Submitted", OperationColumn::Submitted, true)}
                        {header("Duration", OperationColumn::Duration, false)}
                        <th scope="col" class="wide">"Message"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </section>
        <Pages page=list.page pages=list.pages of link=at_page/>
    }
}

#[component]
fn NothingRan(cluster: String) -> impl IntoView {
    view! {
        <section class="panel">
            <Empty title="Nothing has run yet" text="ping.yml connects to every machine and changes nothing. It is a good first run.">
                {if cluster.is_empty() {
                    view! { <a class="btn primary" href=routes::new_operation("", "ping.yml")>{icon(Icon::Play)} "Run ping.yml"</a> }.into_any()
                } else {
                    view! { <FirstRun cluster id="first-run"/> }.into_any()
                }}
            </Empty>
        </section>
    }
}

#[component]
fn NoneMatches(path: String) -> impl IntoView {
    view! {
        <section class="panel">
            <Empty title="No operation matches" text="None of the operations matches the filter.">
                <a class="btn" href=path>"Show all operations"</a>
            </Empty>
        </section>
    }
}
