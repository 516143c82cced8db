//! Removing a node: first from the cluster, by an operation; when that has succeeded, from the inventory.

mod functions;

use api::OperationName;
use api::cluster::Removal;
use api::configuration::{ChangeReview, Document};
use api::operation::OperationReview;
use functions::{ForgetNode, RemoveNode, load_removal};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use super::configuration::Changes;
use super::current::CurrentCluster;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::json::data;
use crate::operations::{Commands, reviewed};
use crate::routes;
use crate::ui::{Alert, Loaded, Panel, Tone, dynamic};

/// The part of the query that says that the machine can't be reached any more.
const GONE: &str = "gone";

#[component]
pub fn RemoveNodePage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let node = Memo::new(move |_| query.read().get("node").unwrap_or_default());
    let gone = Memo::new(move |_| query.read().get(GONE).is_some_and(|gone| gone == "true"));
    let removal = data(
        move || (here.news.get(), here.name.get(), node.get(), gone.get()),
        |(_, name, node, gone)| load_removal(name, node, gone),
    );
    view! {
        <Loaded resource=removal let:removal>
            {dynamic(move || {
                let (cluster, node) = (here.name.get(), node.get());
                let title = format!("Remove {node} from {cluster}");
                let step = match removal.clone() {
                    Removal::FromCluster { consequences, gone, not_ready, operation } => {
                        view! { <FromCluster cluster node consequences gone not_ready operation/> }.into_any()
                    }
                    Removal::FromInventory { by, change, control_plane } => {
                        view! { <FromInventory cluster node by change control_plane/> }.into_any()
                    }
                };
                // A string, not a closure: the server reads the title when this page's signals may already be disposed.
                view! { <Title text=title/> {step} }
            })}
        </Loaded>
    }
}

#[component]
fn FromCluster(
    cluster: String,
    node: String,
    consequences: Vec<String>,
    gone: bool,
    not_ready: Option<String>,
    operation: OperationReview,
) -> impl IntoView {
    let nodes = routes::cluster_tab(&cluster, "nodes");
    let remove = routes::cluster_tab(&cluster, "nodes/remove");
    let (other, words) = if gone {
        (routes::with_query(&remove, &[("node", &node)]), "The machine can be reached: clean it, too")
    } else {
        (routes::with_query(&remove, &[("node", &node), (GONE, "true")]), "The machine can't be reached any more")
    };
    view! {
        <Panel title=format!("Remove {node} from the cluster") class="narrow">
            <div class="pad stack">
                {not_ready
                    .map(|why| view! { <Alert tone=Tone::Err title=format!("{node} is not ready")><p>{why}</p></Alert> })}
                <Alert tone=Tone::Warn title="What happens">
                    <ul class="list">{consequences.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
                </Alert>
                {operation.waits_for.map(|what| view! { <Alert tone=Tone::Idle title=what/> })}
                <p><a class="link" href=other>{words}</a></p>
                <Commands commands=operation.commands usual=operation.usual/>
                <Form id="remove-node" functions=vec![endpoint::<RemoveNode>()] class="stack">
                    <input type="hidden" name="cluster" value=cluster/>
                    <input type="hidden" name="node" value=node.clone()/>
                    {reviewed(&operation.name, operation.expected_inputs)}
                    <input type="hidden" name="gone" value=gone.to_string()/>
                    <FormEnd>
                        <Submit label=format!("Remove {node}") class="btn danger-solid"/>
                        <a class="btn" href=nodes>"Keep the node"</a>
                    </FormEnd>
                </Form>
            </div>
        </Panel>
    }
}

#[component]
fn FromInventory(
    cluster: String,
    node: String,
    by: OperationName,
    change: ChangeReview,
    control_plane: bool,
) -> impl IntoView {
    let nodes = routes::cluster_tab(&cluster, "nodes");
    let replace = routes::with_query(&routes::cluster_tab(&cluster, "nodes/replace"), &[("node", &node)]);
    let version = change.version.clone();
    view! {
        <Panel title=format!("Remove {node} from the inventory") class="narrow">
            <div class="pad stack">
                <p>
                    <a class="link" href=routes::operation(&by)>{by.to_string()}</a>
                    {format!(" has removed {node} from the cluster. As long as it is in the inventory, the next run of cluster.yml or scale.yml adds it again.")}
                </p>
                {control_plane
                    .then(|| view! { <p>"Or " <a class="link" href=replace>"replace it by another machine"</a> ": one change of the inventory exchanges both."</p> })}
                <Changes review=change document=Document::Inventory/>
                <Form id="forget-node" functions=vec![endpoint::<ForgetNode>()] class="stack">
                    <input type="hidden" name="cluster" value=cluster/>
                    <input type="hidden" name="node" value=node/>
                    <input type="hidden" name="version" value=version/>
                    <FormEnd>
                        <Submit label="Remove from the inventory"/>
                        <a class="btn" href=nodes>"Keep it in the inventory"</a>
                    </FormEnd>
                </Form>
            </div>
        </Panel>
    }
}
