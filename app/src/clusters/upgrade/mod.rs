//! Upgrading a cluster: the versions that it can have next, what the upgrade does, and its progress per node.

mod functions;
mod nodes;
mod plan;
mod probe;
mod run;
mod versions;

use api::cluster::Upgrade;
use functions::load_upgrade;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use nodes::Nodes;
use plan::Plan;
use probe::Probe;
use run::LastRun;
use versions::Versions;

use super::current::CurrentCluster;
use crate::json::{Data, data};
use crate::ui::{Loaded, dynamic};

#[component]
pub fn UpgradePage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let query = query.read();
        ["to", "from", "run", "saved"].map(|key| query.get(key).unwrap_or_default())
    });
    let upgrade = data(move || (here.name.get(), asked.get()), |(name, [to, from, ..])| load_upgrade(name, to, from));
    view! {
        {dynamic(move || view! { <Title text=format!("Upgrade {}", here.name.get())/> })}
        <Loaded resource=upgrade let:found>
            {
                if found.is_changing() {
                    load_soon(upgrade);
                }
                let [_, from, _, saved] = asked.get_untracked();
                view! { <Content cluster=here.name.get_untracked() from saved=saved == "probe" upgrade=found/> }
            }
        </Loaded>
    }
}

#[component]
fn Content(
    cluster: String,
    /// The running version as the user typed it.
    from: String,
    /// Whether the address to request was just saved.
    saved: bool,
    upgrade: Upgrade,
) -> impl IntoView {
    let probe = upgrade.probe_url.clone();
    let under_way = upgrade.is_under_way();
    let now = upgrade.now;
    let last = upgrade.last.clone().map(|last| view! { <LastRun last now/> });
    let (nodes, read, plan) = (upgrade.nodes.clone(), upgrade.read, upgrade.plan.clone());
    let versions = (!under_way).then(|| view! { <Versions cluster=cluster.clone() from=from.clone() upgrade/> });
    view! {
        {last}
        {versions}
        <Nodes nodes read now/>
        {(!under_way).then(|| view! { <Probe cluster=cluster.clone() url=probe saved/> })}
        {plan.map(|plan| view! { <Plan cluster from plan/> })}
    }
}

/// Loads the page's data again in two seconds, unless the view is removed before. Waits while the user types, because the new view has
/// empty fields.
fn load_soon(upgrade: Data<Upgrade>) {
    #[cfg(feature = "hydrate")]
    {
        let is_typing = || document().active_element().is_some_and(|element| element.tag_name() == "INPUT");
        let load = move || {
            if !is_typing() {
                upgrade.refetch();
            }
        };
        if let Ok(handle) = set_interval(load, std::time::Duration::from_secs(2)) {
            on_cleanup(move || handle.clear());
        }
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = upgrade;
}
