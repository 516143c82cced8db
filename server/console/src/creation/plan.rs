//! What creating the cluster will do, from its inputs. Pure.

use api::cluster::{PlannedMachine, PlannedProblem, PlannedSetting};
use inventory::kubernetes::{Settings, problems};
use inventory::{Host, Inventory, Role, Vars};
use operation::versions;

/// The plan for our playbooks. With those of kubespray, only what the variables say is known.
pub(super) struct Planned {
    pub(super) problems: Vec<PlannedProblem>,
    pub(super) machines: Vec<PlannedMachine>,
    pub(super) settings: Vec<PlannedSetting>,
    pub(super) changes: Vec<String>,
}

/// The plan with our playbooks.
pub(super) fn ours(inventory: &Inventory, vars: &Vars) -> Planned {
    let settings = Settings::of(inventory, vars);
    let found = problems(inventory, &settings);
    Planned {
        problems: found.into_iter().map(|p| PlannedProblem { message: p.message, fix: Some(p.document) }).collect(),
        machines: machines(inventory, vars, true),
        settings: values(inventory, vars, &settings),
        changes: changes(&settings),
    }
}

/// The plan with kubespray's playbooks, whose defaults belong to their image.
pub(super) fn of_kubespray(inventory: &Inventory, vars: &Vars) -> Planned {
    let setting = |(label, name): (&str, &str)| {
        let given = vars.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        PlannedSetting {
            label: label.into(),
            is_default: given.is_none(),
            value: given.unwrap_or_else(|| "as in the image".into()),
        }
    };
    Planned {
        // `inventory::advice` warns of what kubespray refuses, in the review of the operation.
        problems: Vec::new(),
        machines: machines(inventory, vars, false),
        settings: NAMED.into_iter().map(setting).collect(),
        changes: vec!["kubespray installs a container runtime, etcd and Kubernetes, and changes network, kernel parameters and packages of each machine.".into()],
    }
}

const NAMED: [(&str, &str); 4] = [
    ("Kubernetes", "kube_version"),
    ("Pods", "kube_pods_subnet"),
    ("Services", "kube_service_addresses"),
    ("Network plugin", "kube_network_plugin"),
];

fn values(inventory: &Inventory, vars: &Vars, settings: &Settings) -> Vec<PlannedSetting> {
    let setting = |(label, name): (&str, &str)| {
        let text = settings.text(name);
        let value = if name == "kube_version" { version(&text) } else { text };
        PlannedSetting { label: label.into(), value, is_default: settings.is_default(name) }
    };
    let mut values: Vec<PlannedSetting> = NAMED.into_iter().map(setting).collect();
    values.extend(endpoint(inventory, vars, settings).map(|(value, is_default)| PlannedSetting {
        label: "Kubernetes API".into(),
        value,
        is_default,
    }));
    values
}

/// A version with its `v`, as Kubernetes writes it.
fn version(text: &str) -> String {
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("v{text}") } else { text.to_owned() }
}

/// Where the nodes reach the Kubernetes API, and whether that is the first control plane itself.
fn endpoint(inventory: &Inventory, vars: &Vars, settings: &Settings) -> Option<(String, bool)> {
    if let Some((address, port)) = settings.endpoint() {
        return Some((https(&address, &port.to_string()), false));
    }
    let first = *inventory.control_plane().first()?;
    let own = first.vars.get("ip").and_then(|ip| ip.as_str()).map(str::to_owned);
    let address = own.unwrap_or_else(|| first.reached(vars).address);
    Some((https(&address, &settings.text("kube_apiserver_port")), true))
}

fn https(address: &str, port: &str) -> String {
    if address.contains(':') { format!("https://[{address}]:{port}") } else { format!("https://{address}:{port}") }
}

fn machines(inventory: &Inventory, vars: &Vars, etcd_on_planes: bool) -> Vec<PlannedMachine> {
    let machine = |host: &Host| PlannedMachine {
        name: host.name.clone(),
        reached_by: host.reached(vars).to_string(),
        becomes: becomes(host, etcd_on_planes),
    };
    inventory.hosts.iter().map(machine).collect()
}

fn becomes(host: &Host, etcd_on_planes: bool) -> String {
    let has = |role| host.roles.contains(&role);
    let is_plane = has(Role::ControlPlane);
    let parts: Vec<&str> = [
        (is_plane, "control plane"),
        (has(Role::Etcd) || (is_plane && etcd_on_planes), "etcd"),
        (has(Role::Worker), "worker"),
    ]
    .into_iter()
    .filter_map(|(is, word)| is.then_some(word))
    .collect();
    let text = match parts.split_last() {
        None => return "Stays as it is: no role".into(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// What our roles do, in their order.
fn changes(settings: &Settings) -> Vec<String> {
    let from = |name: &str| settings.text(name);
    let source = match from("files_repo") {
        files if !files.is_empty() => format!("Programs and images come from {files}."),
        _ => format!(
            "Kubernetes comes from {}, containerd and runc from {}, images from {}.",
            from("dl_k8s_io_url"),
            from("github_url"),
            from("kube_image_repo")
        ),
    };
    let pods = match from("kube_network_plugin").as_str() {
        "bridge" => "Each gets routes to the pods of the others.".to_owned(),
        plugin => {
            format!("Pods of {plugin} on each machine connect the pods. The tests of kubeonkube don't run {plugin}.")
        }
    };
    vec![
        "Missing system packages are installed. If the machine has a containerd, a new one with a new configuration replaces it until a reset.".into(),
        format!(
            "kubeadm, kubelet, kubectl, containerd {} and runc {} go to {}. {source}",
            versions::containerd().version,
            versions::runc().version,
            from("bin_dir")
        ),
        format!("The machines forward packets and load kernel modules from now on. {pods}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(hosts: &str, vars: &str) -> Planned {
        ours(&inventory::parse(hosts).unwrap(), &inventory::parse_vars(vars).unwrap())
    }

    const HOSTS: &str = "all: {hosts: {cp1: {ansible_host: 192.0.2.1, ansible_user: ops}, w1: {ansible_host: 192.0.2.2}, jump: {}}, children: {kube_control_plane: {hosts: {cp1: }}, kube_node: {hosts: {cp1: , w1: }}}}";

    #[test]
    fn the_plan_says_what_each_machine_becomes() {
        let plan = plan(HOSTS, "");
        let becomes: Vec<_> = plan.machines.iter().map(|m| (m.name.as_str(), m.becomes.as_str())).collect();
        let expected =
            [("cp1", "Control plane, etcd and worker"), ("w1", "Worker"), ("jump", "Stays as it is: no role")];
        assert_eq!(becomes, expected);
        assert_eq!(plan.machines[0].reached_by, "ops@192.0.2.1");
        assert_eq!(plan.problems, []);
    }

    #[test]
    fn the_plan_shows_variables_and_defaults() {
        let of = |vars: &str| {
            let settings = plan(HOSTS, vars).settings;
            settings.into_iter().map(|s| (s.label, s.value, s.is_default)).collect::<Vec<_>>()
        };
        let all = of("kube_version: 1.33.7\n");
        let row = |label: &str, value: &str, is_default| (label.to_owned(), value.to_owned(), is_default);
        assert_eq!(all[0], row("Kubernetes", "v1.33.7", false));
        assert_eq!(all[1], row("Pods", "10.233.64.0/18", true));
        assert_eq!(all[4], row("Kubernetes API", "https://192.0.2.1:6443", true));
        let balanced = of("loadbalancer_apiserver: {address: 'fd00::1', port: 443}\n");
        assert_eq!(balanced[4], row("Kubernetes API", "https://[fd00::1]:443", false));
        assert!(plan(HOSTS, "files_repo: http://files.example\n").changes[1].contains("http://files.example"));
        let versions = format!("containerd {} and runc {}", versions::containerd().version, versions::runc().version);
        assert!(plan(HOSTS, "").changes[1].contains(&versions));
        assert!(plan(HOSTS, "").changes[2].contains("routes to the pods of the others"));
        assert!(plan(HOSTS, "kube_network_plugin: calico\n").changes[2].contains("don't run calico"));
    }
}
