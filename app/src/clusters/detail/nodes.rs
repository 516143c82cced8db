//! The Nodes tab: the hosts of the inventory.

use api::cluster::{NodeList, NodeResults, NodeRow};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::super::current::CurrentCluster;
use super::super::functions::load_nodes;
use crate::json::data;
use crate::routes;
use crate::ui::{Alert, Empty, Filter, Loaded, Segment, Segments, Status, Tone, dynamic};
use crate::words::count;

#[component]
pub fn ClusterNodesPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let text = move |key: &'static str| Signal::derive(move || query.read().get(key).unwrap_or_default());
    let (q, role) = (text("q"), text("role"));
    let nodes = data(move || (here.news.get(), here.name.get()), |(_, name)| load_nodes(name));
    let path = move || routes::cluster_tab(here.name.get(), "nodes");
    let segments = Signal::derive(move || {
        [("All", ""), ("Control plane", "control plane"), ("etcd", "etcd"), ("Workers", "node")]
            .into_iter()
            .map(|(word, of)| Segment {
                word: word.into(),
                href: routes::with_query(&path(), &[("q", &q.get()), ("role", of)]),
                current: role.get() == of,
            })
            .collect::<Vec<_>>()
    });
    view! {
        <div class="bar">
            {dynamic(move || {
                let keep = Signal::derive(move || vec![("role", role.get())]);
                view! { <Filter action=path() q=q keep=keep label="Filter hosts"/> }
            })}
            <Segments label="Which hosts" segments/>
        </div>
        <Loaded resource=nodes let:list>
            {dynamic(move || view! { <Nodes list=list.clone() q=q.get() role=role.get() configuration=routes::cluster_tab(here.name.get(), "configuration")/> })}
        </Loaded>
    }
}

#[component]
fn Nodes(list: NodeList, q: String, role: String, configuration: String) -> impl IntoView {
    if let Some(problem) = list.problem {
        return view! {
            <div role="alert">
                <Alert tone=Tone::Err title="The inventory can't be read, so its hosts can't be shown.">
                    <p>{problem}</p>
                    <div class="bar"><a class="btn" href=configuration>"Open the inventory"</a></div>
                </Alert>
            </div>
        }
        .into_any();
    }
    let (all, results) = (list.nodes.len(), list.results);
    let shown: Vec<_> = list.nodes.into_iter().filter(|node| matches(node, &q, &role)).collect();
    if all == 0 {
        return view! {
            <section class="panel">
                <Empty title="The inventory has no hosts" text="Add hosts to the inventory to see them here.">
                    <a class="btn" href=configuration>"Open the inventory"</a>
                </Empty>
            </section>
        }
        .into_any();
    }
    if shown.is_empty() {
        return view! {
            <section class="panel">
                <Empty title="No host matches" text=format!("The inventory has {}, but none matches the filter.", count(all as u64, "host", "hosts"))/>
            </section>
        }
        .into_any();
    }
    view! {
        <section class="panel scroll" tabindex="0" aria-label="Hosts">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Host"</th> <th scope="col">"Roles"</th> <th scope="col">"Address"</th>
                        <th scope="col">"Connection"</th> <th scope="col">"Last run"</th>
                    </tr>
                </thead>
                <tbody>{shown.into_iter().map(|node| view! { <Node node results/> }).collect_view()}</tbody>
            </table>
        </section>
    }
    .into_any()
}

#[component]
fn Node(node: NodeRow, results: NodeResults) -> impl IntoView {
    let without = match results {
        NodeResults::NoRun => "Not in a run yet",
        NodeResults::NewestRun => "Not in the last run",
        NodeResults::Unknown => "Result unknown",
    };
    let result = match node.last_result.as_deref() {
        None => view! { <span class="faint">{without}</span> }.into_any(),
        Some("ok") => view! { <Status tone=Tone::Ok word="Reached"/> }.into_any(),
        Some("unreachable") => view! { <Status tone=Tone::Err word="Unreachable"/> }.into_any(),
        Some("failed") => view! { <Status tone=Tone::Err word="Failed"/> }.into_any(),
        Some(other) => view! { <Status tone=Tone::Idle word=other.to_owned()/> }.into_any(),
    };
    view! {
        <tr>
            <th scope="row"><span class="name">{node.name}</span></th>
            <td>{node.roles.join(", ")}</td>
            <td class="mono">{node.address}</td>
            <td class="mono">{node.reached_by}</td>
            <td>{result}</td>
        </tr>
    }
}

/// Whether `q` is part of the name or address, and the host has the chosen role, if any.
fn matches(node: &NodeRow, q: &str, role: &str) -> bool {
    // Names and addresses are ASCII, and case tables for the rest of Unicode would add 24 KB to the wasm.
    let q = q.to_ascii_lowercase();
    (q.is_empty() || node.name.to_ascii_lowercase().contains(&q) || node.address.to_ascii_lowercase().contains(&q))
        && (role.is_empty() || node.roles.iter().any(|r| r == role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_by_name_address_and_role_together() {
        let node = NodeRow {
            name: "fra-CP1".into(),
            address: "10.0.0.11".into(),
            reached_by: "ops@10.0.0.11:22".into(),
            roles: vec!["control plane".into(), "etcd".into()],
            last_result: None,
        };
        assert!(matches(&node, "cp1", ""));
        assert!(matches(&node, "0.0.11", "etcd"));
        assert!(!matches(&node, "cp1", "node"));
        assert!(!matches(&node, "cp2", "etcd"));
    }
}
