//! The Nodes tab: the hosts of the inventory.

use api::Time;
use api::cluster::{LiveNode, NodeList, NodeResults, NodeRow};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::super::current::CurrentCluster;
use super::super::functions::load_nodes;
use super::live_state::{LiveNote, is_current};
use crate::json::data;
use crate::routes;
use crate::ui::{Ago, Alert, Empty, Filter, Icon, Loaded, Segment, Segments, Status, Tone, dynamic, icon};
use crate::words::{count, named};

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
            <a class="btn end" href=move || routes::cluster_tab(here.name.get(), "nodes/add")>{icon(Icon::Plus)} "Add nodes"</a>
        </div>
        <Loaded resource=nodes let:list>
            {dynamic(move || view! { <Nodes list=list.clone() q=q.get() role=role.get() configuration=routes::cluster_tab(here.name.get(), "configuration") tab=routes::cluster_tab(here.name.get(), "nodes")/> })}
        </Loaded>
    }
}

#[component]
fn Nodes(list: NodeList, q: String, role: String, configuration: String, tab: String) -> impl IntoView {
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
    let (all, results, now) = (list.nodes.len(), list.results, list.now);
    let current = is_current(&list.live);
    let live = list.live.read.is_some();
    let strays = is_current(&list.live).then(|| strays(&list.nodes)).flatten();
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
        <LiveNote live=list.live now/>
        {strays.map(|sentence| view! { <p class="muted">{sentence} " " <a class="link" href=configuration>"Open the inventory"</a></p> })}
        <section class="panel scroll" tabindex="0" aria-label="Hosts">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Host"</th>
                        {live
                            .then(|| {
                                view! {
                                    <th scope="col">"In the cluster"</th>
                                    <th scope="col">"Version"</th>
                                    <th scope="col" class="tertiary">"Joined"</th>
                                }
                            })}
                        <th scope="col">"Last run"</th> <th scope="col">"Roles"</th>
                        <th scope="col">"Address"</th>
                        <th scope="col"><span class="sr">"Actions"</span></th>
                    </tr>
                </thead>
                <tbody>{shown.into_iter().map(|node| view! { <Node node results live current now tab=tab.clone()/> }).collect_view()}</tbody>
            </table>
        </section>
    }
    .into_any()
}

#[component]
fn Node(
    node: NodeRow,
    results: NodeResults,
    live: bool,
    current: bool,
    now: Time,
    /// The path of this tab.
    tab: String,
) -> impl IntoView {
    let without = match results {
        NodeResults::NoRun => "Not in a run yet",
        NodeResults::NewestRun => "Not in the last run",
        NodeResults::Unknown => "Result unknown",
    };
    let to = |page: &str| routes::with_query(&format!("{tab}/{page}"), &[("node", &node.name)]);
    let (remove, replace, is_removed) = (to("remove"), to("replace"), node.removed_by.is_some());
    let word = if is_removed { "Remove from the inventory…" } else { "Remove…" };
    // A control plane is removed before another machine replaces it.
    let is_replaceable = node.in_inventory && (!is_removed || node.roles.iter().any(|role| role == "control plane"));
    let result = match node.last_result.as_deref() {
        _ if node.removed_by.is_some() => {
            view! { <Status tone=Tone::Idle word="Removed from the cluster"/> }.into_any()
        }
        None if !node.in_inventory => view! { <span class="faint">"–"</span> }.into_any(),
        None => view! { <span class="faint">{without}</span> }.into_any(),
        Some("ok") => view! { <Status tone=Tone::Ok word="Reached"/> }.into_any(),
        Some("unreachable") => view! { <Status tone=Tone::Err word="Unreachable"/> }.into_any(),
        Some("failed") => view! { <Status tone=Tone::Err word="Failed"/> }.into_any(),
        Some("skipped") => view! { <Status tone=Tone::Idle word="Only skipped"/> }.into_any(),
        Some(_) => view! { <Status tone=Tone::Idle word="Not reached"/> }.into_any(),
    };
    // A login mostly names the address.
    let address = if node.reached_by.contains(&node.address) {
        node.reached_by
    } else {
        format!("{} {}", node.address, node.reached_by)
    };
    view! {
        <tr>
            <th scope="row"><span class="name cut" title=node.name.clone()>{node.name.clone()}</span></th>
            {live.then(|| view! { <Live node=node.live in_inventory=node.in_inventory current now/> })}
            <td>{result}</td>
            <td>{node.roles.join(", ")}</td>
            <td class="mono"><span class="cut" title=address.clone()>{address.clone()}</span></td>
            <td class="end">
                {is_replaceable
                    .then(|| view! { <a class="link" href=replace>"Replace…"<span class="sr">" " {node.name.clone()}</span></a> " " })}
                {node.in_inventory.then(|| view! { <a class="link" href=remove>{word}<span class="sr">" " {node.name}</span></a> })}
            </td>
        </tr>
    }
}

/// The node itself. Values of an older attempt are dimmed.
#[component]
fn Live(node: Option<LiveNode>, in_inventory: bool, current: bool, now: Time) -> impl IntoView {
    let Some(node) = node else {
        return view! {
            <td><Status tone=Tone::Idle word="Not in the cluster"/></td>
            <td></td>
            <td class="tertiary"></td>
        }
        .into_any();
    };
    let (tone, word) = match (current, node.ready) {
        (false, true) => (Tone::Idle, "Was ready"),
        (false, false) => (Tone::Idle, "Was not ready"),
        (true, true) => (Tone::Ok, "Ready"),
        (true, false) => (Tone::Err, "Not ready"),
    };
    let only_there = (!in_inventory).then(|| view! { <div class="muted">"Not in the inventory"</div> });
    let note = (!node.note.is_empty())
        .then(|| view! { <div class="muted cut" title=node.note.clone()>{node.note.clone()}</div> });
    view! {
        <td><Status tone word/> {only_there} {note}</td>
        <td class="mono" class:faint=!current>{node.version}</td>
        <td class="muted tertiary" data-label="Joined"><Ago time=node.created now/></td>
    }
    .into_any()
}

/// What to do about nodes that the inventory doesn't name; `None` without any, and if it names none of the nodes, as in hosted clusters.
fn strays(nodes: &[NodeRow]) -> Option<String> {
    let names: Vec<&str> = nodes.iter().filter(|node| !node.in_inventory).map(|node| node.name.as_str()).collect();
    let (are, them) = match names.len() {
        0 => return None,
        1 => ("is a node", "it"),
        _ => ("are nodes", "them"),
    };
    let has_others = nodes.iter().any(|node| node.in_inventory && node.live.is_some());
    has_others.then(|| {
        format!(
            "{} {are} of the cluster, but not in the inventory, so no operation reaches {them}. Add {them} to the inventory. After that, Remove also takes {them} out of the cluster.",
            named(&names)
        )
    })
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

    fn row(name: &str, in_inventory: bool) -> NodeRow {
        let live = LiveNode {
            name: name.into(),
            address: String::new(),
            roles: Vec::new(),
            version: "v1.36.4".into(),
            ready: true,
            note: String::new(),
            created: Time(0),
        };
        NodeRow {
            name: name.into(),
            address: "10.0.0.11".into(),
            reached_by: "ops@10.0.0.11:22".into(),
            roles: vec!["control plane".into(), "etcd".into()],
            last_result: None,
            removed_by: None,
            in_inventory,
            live: Some(live),
        }
    }

    #[test]
    fn a_host_is_found_by_name_address_and_role_together() {
        let node = row("fra-CP1", true);
        assert!(matches(&node, "cp1", ""));
        assert!(matches(&node, "0.0.11", "etcd"));
        assert!(!matches(&node, "cp1", "node"));
        assert!(!matches(&node, "cp2", "etcd"));
    }

    #[test]
    fn nodes_outside_of_the_inventory_are_named() {
        assert_eq!(strays(&[row("a", true)]), None);
        assert_eq!(strays(&[row("b", false)]), None, "another inventory");
        let told = strays(&[row("a", true), row("b", false)]).unwrap();
        assert!(told.starts_with("b is a node of the cluster, but not in the inventory"), "{told}");
    }
}
