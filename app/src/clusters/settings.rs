//! The fields for the settings of a new Kubernetes cluster.

use api::cluster::{OfferedVersion, SettingsOffer};
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
    let hint = hint(&offer.versions);
    let versions = offer.versions.iter().map(|offered| (offered.version.to_string(), offered.label()));
    let options = std::iter::once((String::new(), unset)).chain(versions).collect();
    view! {
        <div class="pad cols">
            <Select
                name="settings[version]" label="Kubernetes version" options hint
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

/// Below the version. With kubespray, no offered version is tested, or none is known.
fn hint(versions: &[OfferedVersion]) -> &'static str {
    match versions {
        [] => {
            "The name of the image doesn't tell which versions it installs. Set kube_version in the variables to choose one."
        }
        versions if versions.iter().any(|offered| offered.proven) => {
            "Choose a tested version, unless you need another one."
        }
        _ => "The newest version that the image installs. The tests of kubeonkube don't run it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tested_version_is_advised_only_if_there_is_one() {
        let offered = |proven| OfferedVersion {
            version: "1.34.4".parse().unwrap(),
            proven,
            newest_patch: false,
            default: false,
            end_of_support: String::new(),
        };
        assert!(hint(&[offered(false), offered(true)]).starts_with("Choose a tested version"));
        assert!(hint(&[offered(false)]).contains("don't run it"));
        assert!(hint(&[]).contains("Set kube_version in the variables"));
    }
}
