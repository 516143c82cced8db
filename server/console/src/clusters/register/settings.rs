//! The settings of a new cluster, written into its variables. Pure.

use api::FieldProblem;
use api::cluster::{ClusterSettings, SettingsOffer, Version, VersionError};
use api::input::Value as _;
use api::machine::Address;
use crd::Engine;
use inventory::kubernetes::{self, Network, PlanProblem, Settings};
use inventory::{Inventory, Role};
use operation::versions::{self, KubesprayRelease};

const VERSION: &str = "kube_version";
const PODS: &str = "kube_pods_subnet";
const SERVICES: &str = "kube_service_addresses";
const BALANCER: &str = "loadbalancer_apiserver";

/// Versions and default networks for the form.
pub(crate) fn offer(engine: Engine, image: &str) -> SettingsOffer {
    SettingsOffer {
        versions: versions::offered(engine, image),
        // kubespray has the same defaults.
        pods: kubernetes::default_of(PODS),
        services: kubernetes::default_of(SERVICES),
    }
}

/// The form's field for a setting.
pub(crate) fn field(name: &str) -> String {
    format!("settings[{name}]")
}

/// The variables with these settings. They must be valid YAML. `image` contains the engine's playbooks.
pub(crate) fn applied(
    text: &str,
    settings: &ClusterSettings,
    engine: Engine,
    image: &str,
) -> Result<String, Vec<FieldProblem>> {
    let release = (engine == Engine::Kubespray).then(|| versions::kubespray_release(image)).flatten();
    let version = |text: &str| version(text, release);
    let vars = inventory::parse_vars(text).unwrap_or_default();
    let mut problems = Vec::new();
    let mut values = Vec::new();
    let typed: [(_, _, _, Parse<'_>); 4] = [
        ("version", VERSION, &settings.version, &version),
        ("pods", PODS, &settings.pods, &network),
        ("services", SERVICES, &settings.services, &network),
        ("balancer", BALANCER, &settings.balancer, &balancer),
    ];
    for (name, variable, text, parse) in typed {
        let default = || match variable {
            // The version of kubespray's playbooks belongs to their image.
            VERSION if engine == Engine::Kubespray => None,
            _ => Some(kubernetes::default_of(variable)).filter(|_| variable != BALANCER),
        };
        match text.trim() {
            "" if vars.contains_key(variable) => {}
            "" => values.extend(default().map(|value| (variable, value))),
            text => match parse(text) {
                Ok(value) => values.push((variable, value)),
                Err(message) => problems.push(FieldProblem { field: field(name), message }),
            },
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    inventory::set_variables(text, &values).map_err(|message| vec![FieldProblem { field: "variables".into(), message }])
}

/// Turns a typed text into the variable's YAML.
type Parse<'p> = &'p dyn Fn(&str) -> Result<String, String>;

/// `release` is that of kubespray in the image, if it has one.
fn version(text: &str, release: Option<&KubesprayRelease>) -> Result<String, String> {
    let version: Version = text.parse().map_err(|why: VersionError| why.to_string())?;
    match release {
        None => Ok(version.to_string()),
        Some(release) => release.refuses(version).map_or_else(|| Ok(release.written(version)), Err),
    }
}

fn network(text: &str) -> Result<String, String> {
    let why = |why| format!("This is no network: {why}. Write it like 10.233.64.0/18.");
    text.parse::<Network>().map(|network| network.to_string()).map_err(why)
}

fn balancer(text: &str) -> Result<String, String> {
    let (address, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port.
        Some((before, _)) if before.contains(':') && !before.ends_with(']') => (text, None),
        Some((address, port)) => (address, Some(port)),
        None => (text, None),
    };
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let port: u16 = match port.map(str::parse) {
        None => 6443,
        Some(Ok(port)) if port > 0 => port,
        Some(_) => return Err("The port is a number from 1 to 65535. Write 192.0.2.10:6443.".into()),
    };
    Address::parse(address)?;
    Ok(format!("{{address: \"{address}\", port: {port}}}"))
}

/// What our playbooks would refuse, at the fields of the form. `roles` is the field for the roles of a host.
pub(crate) fn refused(
    inventory: &Inventory,
    vars: &inventory::Vars,
    engine: Engine,
    roles: impl Fn(&str) -> String,
) -> Vec<FieldProblem> {
    if engine == Engine::Kubespray {
        return Vec::new();
    }
    let control: Vec<&str> = inventory.with_role(Role::ControlPlane).iter().map(|host| host.name.as_str()).collect();
    let first = || inventory.hosts.first().map_or("", |host| host.name.as_str());
    let at = |problem: PlanProblem| FieldProblem {
        field: match problem.about.as_str() {
            VERSION => field("version"),
            PODS => field("pods"),
            SERVICES => field("services"),
            BALANCER | "kube_vip_address" => field("balancer"),
            "kube_control_plane" | "etcd" => roles(control.last().copied().unwrap_or_else(first)),
            host if inventory.host(host).is_some() => roles(host),
            _ => "variables".into(),
        },
        message: problem.message,
    };
    kubernetes::problems(inventory, &Settings::of(inventory, vars)).into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied_to(text: &str, settings: &ClusterSettings) -> Result<String, Vec<FieldProblem>> {
        applied(text, settings, Engine::Kubeonkube, "kubeonkube-runner")
    }

    #[test]
    fn settings_are_written_and_comments_stay() {
        let text = "# Frankfurt\nkube_version: 1.33.1 # for now\n";
        let kept = applied_to(text, &ClusterSettings::default()).unwrap();
        let networks = "kube_pods_subnet: 10.233.64.0/18\nkube_service_addresses: 10.233.0.0/18\n";
        assert_eq!(kept, format!("{text}{networks}"));
        let typed = ClusterSettings {
            version: "v1.34.4".into(),
            pods: "10.1.0.0/16".into(),
            balancer: "lb.example:8443".into(),
            ..ClusterSettings::default()
        };
        let expected = "# Frankfurt\nkube_version: 1.34.4 # for now\nkube_pods_subnet: 10.1.0.0/16\nkube_service_addresses: 10.233.0.0/18\nloadbalancer_apiserver: {address: \"lb.example\", port: 8443}\n";
        assert_eq!(applied_to(text, &typed).unwrap(), expected);
        let empty = applied_to("", &ClusterSettings::default()).unwrap();
        assert!(empty.starts_with(&format!("kube_version: {}\n", versions::default_version())), "{empty}");
    }

    #[test]
    fn a_setting_that_is_invalid_is_refused_at_its_field() {
        let typed = ClusterSettings {
            version: "1.34".into(),
            pods: "10.1.0.0".into(),
            services: "10.2.0.1/16".into(),
            balancer: "lb:0".into(),
        };
        let problems = applied_to("", &typed).unwrap_err();
        let fields: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["settings[version]", "settings[pods]", "settings[services]", "settings[balancer]"]);
    }

    #[test]
    fn the_kubespray_release_decides_how_a_version_is_written() {
        let written = |image: &str, version: &str| {
            let settings = ClusterSettings { version: version.into(), ..ClusterSettings::default() };
            applied("", &settings, Engine::Kubespray, image).map_err(|problems| problems[0].message.clone())
        };
        assert!(written("kubespray:v2.27.0", "1.31.1").unwrap().starts_with("kube_version: v1.31.1\n"));
        assert!(written("kubespray:v2.28.0", "v1.31.1").unwrap().starts_with("kube_version: 1.31.1\n"));
        assert!(written("kubespray:v2.28.0", "1.34.4").unwrap_err().contains("v2.28, which installs 1.30.0 to 1.32.5"));
        assert!(written("kubespray:main", "v1.34.4").unwrap().starts_with("kube_version: 1.34.4\n"));
        assert!(!written("kubespray:v2.28.0", "").unwrap().contains("kube_version"), "that of the image");
    }

    #[test]
    fn a_load_balancer_may_have_a_port() {
        assert_eq!(balancer("192.0.2.10").unwrap(), "{address: \"192.0.2.10\", port: 6443}");
        assert_eq!(balancer("[fd00::1]:443").unwrap(), "{address: \"fd00::1\", port: 443}");
        assert_eq!(balancer("fd00::1").unwrap(), "{address: \"fd00::1\", port: 6443}");
        assert!(balancer("a b").is_err() && balancer("a:x").is_err());
    }
}
