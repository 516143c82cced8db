//! What the upgrade will do, and the button that starts it.

use api::cluster::UpgradePlan;
use api::configuration::Document;
use leptos::prelude::*;

use super::super::configuration::Changes;
use super::functions::StartUpgrade;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::operations::{Commands, notes, reviewed};
use crate::routes;
use crate::ui::{Icon, Panel};

#[component]
pub(super) fn Plan(
    cluster: String,
    /// The running version as the user typed it.
    from: String,
    plan: UpgradePlan,
) -> impl IntoView {
    let UpgradePlan { to, continues, consequences, warnings, change, operation } = plan;
    let label = if continues { format!("Continue the upgrade to {to}") } else { format!("Upgrade to {to}") };
    let version = change.as_ref().map(|change| change.version.clone()).unwrap_or_default();
    let saves = if change.is_some() {
        "The button saves this before the run starts. So a stopped upgrade continues to the same version, and new nodes get it. If the first checks refuse the upgrade, set it back on the Configuration tab."
    } else {
        "kube_version has this value already."
    };
    view! {
        <Panel title=label.clone()>
            <div class="pad stack">
                {notes(warnings.into_iter().chain(operation.warnings), operation.waits_for)}
                <h3>"What happens"</h3>
                <ul class="list">{consequences.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
                <h3>"Change of the variables"</h3>
                {change.map(|change| view! { <Changes review=change document=Document::Variables/> })}
                <p class="muted">{saves}</p>
                <h3>"The operation"</h3>
                <Commands commands=operation.commands usual=operation.usual/>
                <Form id="upgrade" functions=vec![endpoint::<StartUpgrade>()] class="stack">
                    <input type="hidden" name="cluster" value=cluster.clone()/>
                    <input type="hidden" name="to" value=to.to_string()/>
                    <input type="hidden" name="from" value=from/>
                    <input type="hidden" name="version" value=version/>
                    {reviewed(&operation.name, operation.expected_inputs)}
                    <FormEnd>
                        <Submit label icon=Icon::Play/>
                        <a class="btn" href=routes::cluster(&cluster)>"Cancel"</a>
                    </FormEnd>
                </Form>
            </div>
        </Panel>
    }
}
