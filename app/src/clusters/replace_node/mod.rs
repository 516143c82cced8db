//! Replacing a node. For a worker, one form adds a machine and then removes the node. For a control plane, the page leads to its removal, and
//! then has the form.

mod functions;

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
                    Replacement::Worker { last: None } => {
                        view! { <New cluster node purpose=MachinesFor::Replace/> }.into_any()
                    }
                    Replacement::Worker { last: Some(last) } => view! { <Last cluster node last/> }.into_any(),
                    Replacement::ControlPlane { removed_by: None, .. } => {
                        view! { <RemoveFirst cluster node/> }.into_any()
                    }
                    Replacement::ControlPlane { removed_by: Some(by), works } => {
                        let run = view! { <a class="link" href=routes::operation(&by)>{by.to_string()}</a> }.into_any();
                        let purpose = MachinesFor::ReplacePlane { works };
                        view! { <New cluster node purpose removed_by=run/> }.into_any()
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

/// The form for the new machine. `removed_by`: the run that has removed a control plane.
#[component]
fn New(
    cluster: String,
    node: String,
    purpose: MachinesFor,
    #[prop(optional)] removed_by: Option<AnyView>,
) -> impl IntoView {
    let functions = vec![endpoint::<ReviewNodes>(), endpoint::<AddNodes>(), endpoint::<KeepEditing>()];
    let is_worker = removed_by.is_none();
    let lead = match removed_by {
        None => view! {
            {format!("A new machine joins as a worker. When that has succeeded, {node} is removed from the cluster. You review everything before it is saved.")}
        }
        .into_any(),
        Some(run) => view! {
            {run}
            {format!(" has removed {node} from the cluster. Now a new machine replaces it in the inventory, and joins as a control plane. It may have the same name. You review everything before it is saved.")}
        }
        .into_any(),
    };
    view! {
        <Form id="replace-node" functions class="stack form-width">
            <input type="hidden" name="cluster" value=cluster.clone()/>
            <input type="hidden" name="replaces" value=node.clone()/>
            <Steps cluster>
                <p class="muted lead">{lead}</p>
                <Panel title=format!("The machine that replaces {node}")><Machines purpose/></Panel>
                {is_worker
                    .then(|| {
                        view! {
                            <Check
                                name="gone" label=format!("The machine of {node} can't be reached any more")
                                hint="Then the operation doesn't log in to it, and its pods count as lost."
                            />
                        }
                    })}
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
fn RemoveFirst(cluster: String, node: String) -> impl IntoView {
    let (remove, nodes) = (removal(&cluster, &node), routes::cluster_tab(&cluster, "nodes"));
    view! {
        <Panel title=format!("Replace {node}") class="narrow">
            <div class="pad stack">
                <p>
                    {format!("{node} is a control plane. etcd needs an odd number of members, so it is removed before another one joins. Until then etcd has one member less: don't restart the others.")}
                </p>
                <ol class="list">
                    <li>{format!("Remove {node} from the cluster, also if its machine is broken.")}</li>
                    <li>
                        "When that has succeeded, this page asks for the new machine, exchanges both in the inventory, and lets the new one join."
                    </li>
                </ol>
                <div class="bar">
                    <a class="btn primary" href=remove>{format!("Remove {node}…")}</a>
                    <a class="btn" href=nodes>"Keep the node"</a>
                </div>
            </div>
        </Panel>
    }
}
