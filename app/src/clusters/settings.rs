//! The fields for the settings of a new Kubernetes cluster.

use api::cluster::SettingsOffer;
use leptos::prelude::*;

use super::create::load_settings_offer;
use crate::form::{Field, Select};
use crate::json::data;
use crate::ui::Loaded;

/// Version, networks and load balancer. Empty fields stand for the default.
#[component]
pub(super) fn SettingsFields() -> impl IntoView {
    let offer = data(|| (), |()| load_settings_offer());
    view! { <Loaded resource=offer rows=2 let:offer><Fields offer/></Loaded> }
}

#[component]
fn Fields(offer: SettingsOffer) -> impl IntoView {
    let default = offer.versions.iter().find(|offered| offered.default).map(|offered| offered.version);
    let unset = match default {
        Some(version) => format!("As in the variables, otherwise {version}"),
        None => "As in the variables, otherwise as in the image".to_owned(),
    };
    let versions = offer.versions.iter().map(|offered| (offered.version.to_string(), offered.label()));
    let options = std::iter::once((String::new(), unset)).chain(versions).collect();
    view! {
        <div class="pad cols">
            <Select
                name="settings[version]" label="Kubernetes version" options
                hint="Choose a tested version, unless you need another one."
            />
            <Field
                name="settings[balancer]" label="Load balancer" mono=true placeholder="none"
                hint="Only for several control planes: an address, and maybe a port, that leads to all of them."
            />
            <Field
                name="settings[pods]" label="Network of pods" mono=true placeholder=offer.pods
                hint="No machine may have an address in it. It can't be changed later."
            />
            <Field
                name="settings[services]" label="Network of Services" mono=true placeholder=offer.services
                hint="Separate from the machines and the pods. It can't be changed later."
            />
        </div>
    }
}
