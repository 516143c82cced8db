//! Creating Kubernetes on the machines of a registered cluster: access, check, plan and creation as steps with their state, on one page.

mod access;
mod check;
mod finish;
mod functions;
mod outcome;
mod plan;

use access::Access;
use api::cluster::{Creation, CreationStage};
use check::{Check, NoCheck};
use finish::Finish;
use functions::load_creation;
pub(super) use functions::load_settings_offer;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use outcome::Outcome;
use plan::Plan;

use super::current::CurrentCluster;
use crate::json::data;
use crate::ui::{Alert, Loaded, Tone, dynamic, optional};

#[component]
pub fn CreateClusterPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let creation = data(move || (here.news.get(), here.name.get()), |(_, name)| load_creation(name));
    view! {
        {optional(move || query.read().get("registered").map(|_| view! { <Registered here/> }))}
        <Loaded resource=creation let:creation>
            {dynamic(move || {
                let cluster = here.name.get();
                // A string, not a closure: the server reads the title when this page's signals may already be disposed.
                view! {
                    <Title text=format!("Create {cluster}")/>
                    <Steps cluster creation=creation.clone()/>
                }
            })}
        </Loaded>
    }
}

#[component]
fn Registered(here: CurrentCluster) -> impl IntoView {
    view! {
        <div role="status" class="form-width">
            {dynamic(move || view! { <Alert tone=Tone::Ok title=format!("{} is registered", here.name.get())/> })}
        </div>
    }
}

#[component]
fn Steps(cluster: String, creation: Creation) -> impl IntoView {
    let Creation { stage, public_key, host_keys, check, plan, run, failures, live, kubeconfig, now } = creation;
    if matches!(stage, CreationStage::Created | CreationStage::Known) {
        return view! { <div class="stack form-width"><Outcome cluster live kubeconfig run now/></div> }.into_any();
    }
    let lead = (stage == CreationStage::Planned).then_some(
        "These steps make a Kubernetes cluster of the machines. Nothing is changed on the machines before step 4.",
    );
    // Without usable inputs nothing is known about the machines, and a check would be refused.
    let usable = !plan.machines.is_empty();
    let working = stage == CreationStage::Working;
    view! {
        <div class="stack form-width">
            {lead.map(|lead| view! { <p class="muted lead">{lead}</p> })}
            <Access cluster=cluster.clone() public_key host_keys=host_keys.clone() usable/>
            {match check.clone() {
                Some(check) => view! { <Check cluster=cluster.clone() check usable working now/> }.into_any(),
                None => view! { <NoCheck cluster=cluster.clone() usable working/> }.into_any(),
            }}
            <Plan cluster=cluster.clone() plan=plan.clone()/>
            <Finish cluster stage host_keys check plan run failures now/>
        </div>
    }
    .into_any()
}
