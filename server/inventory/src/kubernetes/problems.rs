//! Why our playbooks would refuse an inventory and its variables, as far as no machine has to be asked. The rules and their order are those of
//! `deploy/runner/playbooks/roles/variables/filter_plugins/cluster_problems.py` and of the check of addresses in the role `precheck`.

use std::net::IpAddr;

use api::configuration::Document;
use api::input::Value as _;
use api::machine::NodeName;

use super::{Network, Settings};
use crate::inventory::{Group, Host, Inventory, Role};
use crate::vars::text;

/// One reason, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// A variable, a group, or the name of a host.
    pub about: String,
    /// Where it is corrected.
    pub document: Document,
    /// What, why, and what to do.
    pub message: String,
}

impl PlanProblem {
    fn of_variable(name: &str, message: String) -> Self {
        Self { about: name.into(), document: Document::Variables, message }
    }

    fn of_inventory(about: &str, message: String) -> Self {
        Self { about: about.into(), document: Document::Inventory, message }
    }
}

/// All reasons.
#[must_use]
pub fn problems(inventory: &Inventory, settings: &Settings) -> Vec<PlanProblem> {
    let mut problems = problems_of_groups(inventory);
    problems.extend(of_version(settings));
    problems.extend(of_networks(settings));
    problems.extend(of_endpoint(inventory, settings));
    problems.extend(of_addresses(inventory, settings));
    problems
}

/// The reasons in the groups.
fn problems_of_groups(inventory: &Inventory) -> Vec<PlanProblem> {
    const GROUP: &str = "kube_control_plane";
    let control = names(&inventory.control_plane());
    if control.is_empty() {
        let message = "No machine is a control plane. Give one machine this role: it runs the Kubernetes API.";
        return vec![PlanProblem::of_inventory(GROUP, message.into())];
    }
    let mut problems = old_groups(inventory);
    let planes = control.len();
    if planes.is_multiple_of(2) {
        let message = format!(
            "There are {planes} control planes ({}). etcd runs on them, and an even number survives no more failures than {} would. Use 1, 3 or 5.",
            control.join(", "),
            planes - 1
        );
        problems.push(PlanProblem::of_inventory(GROUP, message));
    } else {
        let etcd = names(&inventory.etcd());
        if !etcd.is_empty() && sorted(&etcd) != sorted(&control) {
            let message = format!(
                "Group etcd has {}, but etcd runs on the control plane. Put {} into it, or remove the group.",
                etcd.join(", "),
                control.join(", ")
            );
            problems.push(PlanProblem::of_inventory("etcd", message));
        }
    }
    problems.extend(nodes(inventory).filter(|host| NodeName::parse(&host.name).is_err()).map(|host| {
        let message = format!(
            "“{}” can't be the name of a node. Rename it in the inventory: lower-case letters, digits, “-” and “.”, at most 63 characters.",
            host.name
        );
        PlanProblem::of_inventory(&host.name, message)
    }));
    problems
}

/// Groups of roles that only kubespray reads.
fn old_groups(inventory: &Inventory) -> Vec<PlanProblem> {
    let old = inventory.old_groups().into_iter().filter(|(_, name)| Role::ALL.iter().any(|role| role.group() == *name));
    let problem = |(group, name): (&Group, &str)| {
        let message = format!("The playbooks don't read the group {}. Rename it to {name}.", group.name);
        PlanProblem::of_inventory(&group.name, message)
    };
    old.map(problem).collect()
}

fn names<'i>(hosts: &[&'i Host]) -> Vec<&'i str> {
    hosts.iter().map(|host| host.name.as_str()).collect()
}

fn sorted<'i>(names: &[&'i str]) -> Vec<&'i str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// Control planes and workers.
fn nodes(inventory: &Inventory) -> impl Iterator<Item = &Host> {
    inventory.hosts.iter().filter(|host| {
        use crate::inventory::Role::{ControlPlane, Worker};
        host.roles.iter().any(|role| matches!(role, ControlPlane | Worker))
    })
}

fn of_version(settings: &Settings) -> Option<PlanProblem> {
    const NAME: &str = "kube_version";
    let version = settings.text(NAME);
    let numbers: Vec<&str> = version.strip_prefix('v').unwrap_or(&version).split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if settings.is_template(NAME) || (numbers.len() == 3 && numbers.iter().all(is_number)) {
        return None;
    }
    let message = format!("kube_version is “{version}”. Write all three numbers, such as 1.34.4.");
    Some(PlanProblem::of_variable(NAME, message))
}

const PODS: &str = "kube_pods_subnet";
const SERVICES: &str = "kube_service_addresses";

/// The network of a variable; `None` if only ansible can tell.
fn network(settings: &Settings, name: &str) -> Option<Result<Network, PlanProblem>> {
    let text = settings.text(name);
    let parsed = || {
        text.parse().map_err(|why: String| {
            let message = format!("{name} is “{text}”, and {why}. Write a network such as 10.233.64.0/18.");
            PlanProblem::of_variable(name, message)
        })
    };
    (!settings.is_template(name)).then(parsed)
}

fn of_networks(settings: &Settings) -> Vec<PlanProblem> {
    let (pods, services) = (network(settings, PODS), network(settings, SERVICES));
    let mut problems: Vec<PlanProblem> =
        [&pods, &services].into_iter().flatten().filter_map(|n| n.clone().err()).collect();
    let (Some(Ok(pods)), services) = (pods, services) else { return problems };
    if let Some(Ok(services)) = services
        && pods.overlaps(services)
    {
        let message =
            format!("The networks of pods ({pods}) and Services ({services}) overlap. Choose separate networks.");
        problems.push(PlanProblem::of_variable(SERVICES, message));
    }
    let (Some(prefix), Some(most)) = (settings.number(PREFIX), settings.number("kubelet_max_pods")) else {
        return problems;
    };
    let (own, bits) = (u32::from(pods.prefix()), u32::from(pods.bits()));
    if !(own + 1..=bits - 2).contains(&prefix) {
        let message = format!(
            "{PREFIX} is {prefix}, but a node's part of the pods' network {pods} must be smaller than the whole. Use a larger network, or a value from {} to {}.",
            own + 1,
            bits - 2
        );
        problems.push(PlanProblem::of_variable(PODS, message));
    } else if bits - prefix < 32 && most > (1_u32 << (bits - prefix)) - 2 {
        let message = format!(
            "kubelet_max_pods is {most}, but a /{prefix} has too few addresses for them. Lower it or {PREFIX}."
        );
        problems.push(PlanProblem::of_variable(PREFIX, message));
    }
    problems
}

const PREFIX: &str = "kube_network_node_prefix";

const ENDPOINT: &str = "loadbalancer_apiserver";
const COMMON: &str = "kube_vip_address";

fn of_endpoint(inventory: &Inventory, settings: &Settings) -> Option<PlanProblem> {
    let planes = inventory.control_plane().len();
    let given = settings.get(ENDPOINT);
    if settings.is_template(ENDPOINT) || settings.is_template(COMMON) {
        return None;
    }
    if let Some(common) = settings.common_address() {
        return of_common_address(inventory, settings, &common);
    }
    let is_empty = given.as_object().map_or(given.is_null(), serde_json::Map::is_empty);
    let message = match (is_empty, settings.load_balancer()) {
        (true, _) if planes > 1 => format!(
            "{planes} control planes need an address that leads to all of them. Set {ENDPOINT} to the address and port of a load balancer, or set kube_vip_enabled: true and {COMMON} to an unused address of their network, or use one control plane."
        ),
        (false, None) => {
            format!("{ENDPOINT} needs an address and may have a port, such as {{address: 192.0.2.10, port: 6443}}.")
        }
        _ => return None,
    };
    Some(PlanProblem::of_variable(ENDPOINT, message))
}

/// The reason in the address that the control planes share.
fn of_common_address(inventory: &Inventory, settings: &Settings, common: &str) -> Option<PlanProblem> {
    let about = |message| Some(PlanProblem::of_variable(COMMON, message));
    let Ok(IpAddr::V4(own)) = common.parse() else {
        return about(format!(
            "{COMMON} is “{common}”. Set it to an unused IPv4 address of the control planes' network, such as 192.0.2.10."
        ));
    };
    let endpoint = settings.endpoint();
    if settings.load_balancer().is_some_and(|balancer| Some(balancer) != endpoint) {
        let message = format!(
            "{ENDPOINT} names another address or port than {COMMON} {own} and kube_apiserver_port. Remove {ENDPOINT}, or set kube_vip_enabled: false to use that load balancer."
        );
        return Some(PlanProblem::of_variable(ENDPOINT, message));
    }
    if let Some(host) = nodes(inventory).find(|host| address(host) == Some(own.into())) {
        return about(format!(
            "{COMMON} {own} is the address of {}. Choose an address that no machine has.",
            host.name
        ));
    }
    let inside = |name: &&str| network(settings, name).and_then(Result::ok).is_some_and(|n| n.contains(own.into()));
    let name = [PODS, SERVICES].into_iter().find(inside)?;
    about(format!(
        "{COMMON} {own} is in {name} {}. Choose an unused address of the control planes' network.",
        settings.text(name)
    ))
}

fn of_addresses(inventory: &Inventory, settings: &Settings) -> Vec<PlanProblem> {
    let networks = [(PODS, "pods"), (SERVICES, "Services")];
    let networks = networks.map(|(name, what)| (name, what, network(settings, name).and_then(Result::ok)));
    let mut problems = Vec::new();
    for host in nodes(inventory) {
        let Some(own) = address(host) else { continue };
        for (name, what, network) in &networks {
            let Some(network) = network.filter(|network| network.contains(own)) else { continue };
            let message = format!(
                "The address {own} of {} is in the network of {what}, {network}. Choose another network for {what}.",
                host.name
            );
            problems.push(PlanProblem::of_variable(name, message));
        }
    }
    problems
}

/// The address of a machine in the cluster, if the inventory has it as a number.
fn address(host: &Host) -> Option<IpAddr> {
    let ip = host.vars.get("ip").map(text);
    ip.as_ref().or(host.address.as_ref())?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the problems of these groups, addresses and variables are about.
    fn about(planes: &[&str], workers: &[&str], vars: &str) -> Vec<String> {
        found(planes, workers, vars).into_iter().map(|problem| problem.about).collect()
    }

    fn found(planes: &[&str], workers: &[&str], vars: &str) -> Vec<PlanProblem> {
        let group = |hosts: &[&str]| hosts.iter().map(|host| format!("{host}: {{}}")).collect::<Vec<_>>().join(", ");
        let hosts: Vec<String> = (1..)
            .zip(planes.iter().chain(workers))
            .map(|(number, host)| format!("{host}: {{ansible_host: 192.0.2.{number}}}"))
            .collect();
        let text = format!(
            "all: {{hosts: {{{}}}, children: {{kube_control_plane: {{hosts: {{{}}}}}, kube_node: {{hosts: {{{}}}}}}}}}",
            hosts.join(", "),
            group(planes),
            group(workers)
        );
        let inventory = crate::parse(&text).unwrap();
        problems(&inventory, &Settings::of(&inventory, &crate::parse_vars(vars).unwrap()))
    }

    #[test]
    fn one_control_plane_and_a_worker_need_no_variables() {
        assert_eq!(about(&["cp1"], &["w1"], ""), [""; 0]);
    }

    #[test]
    fn an_even_number_of_control_planes_is_refused() {
        assert_eq!(about(&[], &["w1"], ""), ["kube_control_plane"]);
        let balancer = "loadbalancer_apiserver: {address: 192.0.2.99}";
        let two = found(&["cp1", "cp2"], &[], balancer);
        assert_eq!(two.len(), 1, "{two:?}");
        assert!(two[0].message.contains("no more failures than 1 would. Use 1, 3 or 5."), "{two:?}");
        assert_eq!(about(&["cp1", "cp2", "cp3"], &[], balancer), [""; 0]);
    }

    #[test]
    fn several_control_planes_need_a_load_balancer() {
        assert_eq!(about(&["cp1", "cp2", "cp3"], &[], ""), ["loadbalancer_apiserver"]);
        assert_eq!(about(&["cp1"], &[], "loadbalancer_apiserver: {port: 6443}"), ["loadbalancer_apiserver"]);
        assert_eq!(about(&["cp1"], &[], "loadbalancer_apiserver: '{{ balancer }}'"), [""; 0]);
    }

    #[test]
    fn control_planes_may_share_an_address() {
        let planes = ["cp1", "cp2", "cp3"];
        let shared = |address: &str| format!("kube_vip_enabled: true\nkube_vip_address: {address}\n");
        assert_eq!(about(&planes, &[], &shared("192.0.2.99")), [""; 0]);
        assert_eq!(about(&planes, &[], &shared("'{{ common }}'")), [""; 0]);
        for bad in ["''", "fd00::1", "api.example", "192.0.2.2", "10.233.64.9"] {
            assert_eq!(about(&planes, &[], &shared(bad)), ["kube_vip_address"], "{bad}");
        }
        let other = shared("192.0.2.99") + "loadbalancer_apiserver: {address: 192.0.2.98}\n";
        assert_eq!(about(&planes, &[], &other), ["loadbalancer_apiserver"]);
    }

    #[test]
    fn a_network_with_a_machine_in_it_is_refused() {
        let pods = found(&["cp1"], &["w1"], "kube_pods_subnet: 192.0.0.0/16");
        assert_eq!(pods.len(), 2, "{pods:?}");
        assert!(pods[1].message.starts_with("The address 192.0.2.2 of w1 is in the network of pods, 192.0.0.0/16."));
        assert_eq!(about(&["cp1"], &[], "kube_service_addresses: 192.0.2.0/24"), ["kube_service_addresses"]);
    }

    #[test]
    fn networks_that_do_not_fit_are_refused() {
        assert_eq!(about(&["cp1"], &[], "kube_service_addresses: 10.233.64.0/20"), ["kube_service_addresses"]);
        assert_eq!(about(&["cp1"], &[], "kube_pods_subnet: 10.1.2.3/16"), ["kube_pods_subnet"]);
        assert_eq!(about(&["cp1"], &[], "kube_pods_subnet: 10.1.0.0/24"), ["kube_pods_subnet"]);
        assert_eq!(about(&["cp1"], &[], "kube_network_node_prefix: 26"), ["kube_network_node_prefix"]);
        assert_eq!(about(&["cp1"], &[], "kube_pods_subnet: '{{ pods }}'"), [""; 0]);
    }

    #[test]
    fn a_version_needs_three_numbers() {
        for (version, problems) in [("v1.34.4", 0), ("1.34", 1), ("latest", 1), ("1.34.x", 1)] {
            assert_eq!(about(&["cp1"], &[], &format!("kube_version: {version}")).len(), problems, "{version}");
        }
    }
}
