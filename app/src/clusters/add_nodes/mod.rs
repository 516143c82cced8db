//! Adding nodes: a form for machines, then a review of the change and of the operation. One button saves and runs.

pub(super) mod functions;
mod review;

use api::cluster::NodesReview;
use functions::{AddNodes, ReviewNodes};
use leptos::prelude::*;
use leptos_meta::Title;
use review::Review;

use super::configuration::functions::KeepEditing;
use super::current::CurrentCluster;
use super::machines::{Machines, MachinesFor};
use crate::form::{Form, FormEnd, FormScope, Submit, endpoint, guard_unsaved};
use crate::routes;
use crate::ui::{Icon, Panel, dynamic, optional};

#[component]
pub fn AddNodesPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    dynamic(move || {
        let name = here.name.get();
        let functions = vec![endpoint::<ReviewNodes>(), endpoint::<AddNodes>(), endpoint::<KeepEditing>()];
        view! {
            // A string, not a closure: the server reads the title when this page's signals may already be disposed.
            <Title text=format!("Add nodes to {name}")/>
            <Form id="add-nodes" functions class="stack form-width">
                <input type="hidden" name="cluster" value=name.clone()/>
                <Steps cluster=name>
                    <p class="muted lead">
                        "The machines need an SSH server, Python 3 and the cluster's public key. Leave user and port empty if they are as on the other machines. You review everything before it is saved."
                    </p>
                    <Panel title="Machines to add"><Machines purpose=MachinesFor::Join/></Panel>
                </Steps>
            </Form>
        }
    })
}

/// The fields and their review. A separate component, because the form's answer is only available inside `Form`.
#[component]
pub(super) fn Steps(cluster: String, children: Children) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let reviewed = Signal::derive(move || scope.answered().and_then(|answer| answer.answer::<NodesReview>()));
    let reviewing = Signal::derive(move || reviewed.get().is_some());
    let typed = RwSignal::new(false);
    guard_unsaved(typed.into());
    let nodes = routes::cluster_tab(&cluster, "nodes");
    view! {
        {optional(move || reviewed.get().map(|review| view! { <Review review/> }))}
        <div class="stack" hidden=move || reviewing.get() on:input=move |_| typed.set(true)>
            {children()}
        </div>
        <FormEnd>
            {dynamic(move || {
                let nodes = nodes.clone();
                if reviewing.get() {
                    view! {
                        <Submit label="Save and run" function={endpoint::<AddNodes>()} icon=Icon::Play/>
                        <Submit label="Back to the form" function={endpoint::<KeepEditing>()} class="btn"/>
                    }
                    .into_any()
                } else {
                    view! {
                        <Submit label="Review" function={endpoint::<ReviewNodes>()}/>
                        <a class="btn" href=nodes>"Cancel"</a>
                    }
                    .into_any()
                }
            })}
        </FormEnd>
    }
}
