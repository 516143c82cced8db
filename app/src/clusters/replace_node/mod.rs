//! Replacing a node. For a worker, one form adds a machine and then removes the node. For a control plane, the page lists the steps.

mod functions;

use api::OperationName;
use api::cluster::{LastReplacement, Replacement, ReplacementStep};
use functions::load_replacement;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use super::add_nodes::Steps;
use super::add_nodes::functions::{AddNodes, ReviewNodes};
use super::configuration::functions::KeepEditing;
use super::current::CurrentCluster;
use super::machines::{Machines, MachinesFor};
use crate::form::{Check, Form, FormEnd, Submit, endpoint};
use crate::json::data;
use crate::routes;
use crate::ui::{Alert, Icon, Loaded, Panel, dynamic, phase_tone};

#[component]
pub fn ReplaceNodePage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let node = Memo::new(move |_| query.read().get("node").unwrap_or_default());
    // Not again after each change of the cluster: that would empty the form.
    let replacement = data(move || (here.name.get(), node.get()), |(name, node)| load_replacement(name, node));
    view! {
        <Loaded resource=replacement let:replacement>
            {dynamic(move || {
                let (cluster, node) = (here.name.get(), node.get());
                let title = format!("Replace {node} in {cluster}");
                let step = match replacement.clone() {
                    Replacement::Worker { last: None } => view! { <New cluster node/> }.into_any(),
                    Replacement::Worker { last: Some(last) } => view! { <Last cluster node last/> }.into_any(),
                    Replacement::ControlPlane { removed_by } => {
                        view! { <ControlPlane cluster node removed_by/> }.into_any()
                    }
                };
                // A string, not a closure: the server reads the title when this page's signals may already be disposed.
                view! { <Title text=title/> {step} }
            })}
        </Loaded>
    }
}

/// The page that removes the node, first from the cluster, then from the inventory.
fn removal(cluster: &str, node: &str) -> String {
    routes::with_query(&routes::cluster_tab(cluster, "nodes/remove"), &[("node", node)])
}

#[component]
fn New(cluster: String, node: String) -> impl IntoView {
    let functions = vec![endpoint::<ReviewNodes>(), endpoint::<AddNodes>(), endpoint::<KeepEditing>()];
    view! {
        <Form id="replace-node" functions class="stack form-width">
            <input type="hidden" name="cluster" value=cluster.clone()/>
            <input type="hidden" name="replaces" value=node.clone()/>
            <Steps cluster>
                <p class="muted lead">
                    {format!("A new machine joins as a worker. When that has succeeded, {node} is removed from the cluster. You review everything before it is saved.")}
                </p>
                <Panel title=format!("The machine that replaces {node}")><Machines purpose=MachinesFor::Replace/></Panel>
                <Check
                    name="gone" label=format!("The machine of {node} can't be reached any more")
                    hint="Then the operation doesn't log in to it, and its pods count as lost."
                />
            </Steps>
        </Form>
    }
}

/// How far the newest replacement is, and what continues it.
#[component]
fn Last(cluster: String, node: String, last: LastReplacement) -> impl IntoView {
    let LastReplacement { by, phase, machine, state, next } = last;
    let remove = removal(&cluster, &node);
    let (heading, title) = (format!("Replace {node}"), format!("Replacement by {machine}: {}", phase.word()));
    let next = match next {
        ReplacementStep::Wait => ().into_any(),
        ReplacementStep::Remove => {
            view! { <a class="btn primary" href=remove>{format!("Remove {node}…")}</a> }.into_any()
        }
        ReplacementStep::Forget => {
            view! { <a class="btn primary" href=remove>{format!("Remove {node} from the inventory…")}</a> }.into_any()
        }
        ReplacementStep::Repeat => view! {
            <Form id="repeat-replacement" functions=vec![endpoint::<AddNodes>()]>
                <input type="hidden" name="cluster" value=cluster/>
                <input type="hidden" name="replaces" value=node.clone()/>
                <input type="hidden" name="machines[0][name]" value=machine/>
                <Check name="gone" label=format!("The machine of {node} can't be reached any more")/>
                <FormEnd><Submit label="Run the replacement again" icon=Icon::Play/></FormEnd>
            </Form>
        }
        .into_any(),
    };
    view! {
        <Panel title=heading class="narrow">
            <div class="pad stack">
                <Alert tone=phase_tone(phase) title>
                    <ul class="list">{state.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
                </Alert>
                <p>"Its operation: " <a class="link" href=routes::operation(&by)>{by.to_string()}</a></p>
                {next}
            </div>
        </Panel>
    }
}

#[component]
fn ControlPlane(cluster: String, node: String, removed_by: Option<OperationName>) -> impl IntoView {
    let (remove, add) = (removal(&cluster, &node), routes::cluster_tab(&cluster, "nodes/add"));
    let first = match removed_by {
        Some(by) => {
            view! { "Done: " <a class="link" href=routes::operation(&by)>{by.to_string()}</a> {format!(" has removed {node} from the cluster.")} }
                .into_any()
        }
        None => {
            view! { <a class="link" href=remove.clone()>{format!("Remove {node} from the cluster")}</a> ", also if its machine is broken." }
                .into_any()
        }
    };
    view! {
        <Panel title=format!("Replace {node}") class="narrow">
            <div class="pad stack">
                <p>
                    {format!("{node} is a control plane. etcd needs an odd number of members, so it is removed before another one joins. Until then etcd has one member less: don't restart the others.")}
                </p>
                <ol class="list">
                    <li>{first}</li>
                    <li>
                        <a class="link" href=remove>"Remove it from the inventory"</a>
                        ", and from the load balancer of the Kubernetes API."
                    </li>
                    <li>
                        <a class="link" href=add>"Add the new machine"</a>
                        " with the role “Control plane”, then put it into the load balancer."
                    </li>
                </ol>
            </div>
        </Panel>
    }
}
