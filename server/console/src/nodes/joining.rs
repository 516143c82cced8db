//! What adding machines takes: the operation for them, what follows from it, and why it can't be done. Pure.

use api::ClusterName;
use api::operation::{Action, NewOperation};
use crd::Engine;
use inventory::kubernetes::{PlanProblem, Settings, problems};
use inventory::{Inventory, Machine, Role, Vars};

use crate::listed;

/// At most this many names in a sentence.
const NAMED: usize = 5;
/// Both groups, as kubespray documents the limit for new members of etcd.
const PLANES_AND_ETCD: &str = "etcd,kube_control_plane";
/// Kubespray asks etcd this often before it gives up, which several new members need.
const RETRIES: [&str; 2] = ["-e", "etcd_retries=10"];

/// Machines that are added to a cluster.
pub(super) struct Joining<'a> {
    pub(super) machines: &'a [Machine],
    pub(super) before: &'a Inventory,
    pub(super) after: &'a Inventory,
    pub(super) vars: &'a Vars,
    pub(super) engine: Engine,
    /// Whether the control plane runs as pods.
    pub(super) hosted: bool,
}

pub(super) fn is_control_plane(machine: &Machine) -> bool {
    machine.roles.contains(&Role::ControlPlane)
}

/// The operation that makes these machines of the inventory `after` nodes.
pub(super) fn operation(
    cluster: &ClusterName,
    machines: &[Machine],
    after: &Inventory,
    vars: &Vars,
    engine: Engine,
    hosted: bool,
) -> NewOperation {
    let names = |planes: bool| machines.iter().filter(move |m| planes || !is_control_plane(m)).map(|m| m.name.as_str());
    let new = |playbook: &str, limit: Vec<&str>| {
        let action = Action::builtin(playbook);
        NewOperation { limit: limit.join(","), ..NewOperation::new(cluster.clone(), action) }
    };
    if hosted || !machines.iter().any(is_control_plane) {
        return new(if hosted { operation::JOIN } else { operation::ADD_NODES }, names(true).collect());
    }
    if engine == Engine::Kubeonkube {
        // All control planes must learn who shares their address, so that run isn't limited.
        let shares = Settings::of(after, vars).common_address().is_some();
        return new(operation::CREATE, if shares { Vec::new() } else { names(true).collect() });
    }
    let limit = std::iter::once(PLANES_AND_ETCD).chain(names(false)).collect();
    let created = new(operation::CREATE, limit);
    if !machines.iter().any(|machine| is_member(after, &machine.name)) {
        return created;
    }
    // The API servers that exist learn of the new members of etcd from this playbook only.
    let upgrade = vec![operation::UPGRADE.to_owned()];
    NewOperation { arguments: RETRIES.map(str::to_owned).to_vec(), post_hooks: upgrade, ..created }
}

fn is_member(inventory: &Inventory, name: &str) -> bool {
    inventory.etcd().iter().any(|host| host.name == name)
}

impl Joining<'_> {
    fn planes(&self) -> Vec<&str> {
        self.machines.iter().filter(|machine| is_control_plane(machine)).map(|m| m.name.as_str()).collect()
    }

    fn settings(&self) -> Settings {
        Settings::of(self.after, self.vars)
    }

    /// The members of etcd. Our playbooks run it on the control planes.
    fn members(&self, inventory: &Inventory) -> usize {
        let of_group = inventory.etcd().len();
        if self.engine == Engine::Kubeonkube || of_group == 0 { inventory.control_plane().len() } else { of_group }
    }

    /// Why the playbooks would refuse these machines, as sentences. Problems that the cluster has without them don't count.
    pub(super) fn refusals(&self) -> Vec<String> {
        let adds_planes = !self.planes().is_empty();
        if self.hosted {
            // The networks are those of the Cluster, which the variables don't say.
            return Vec::new();
        }
        let mut refusals: Vec<String> = Vec::new();
        if adds_planes && !self.has_endpoint() {
            refusals.push(self.without_endpoint());
        }
        let (old, new) = (self.members(self.before), self.members(self.after));
        if adds_planes && new != old && new.is_multiple_of(2) {
            refusals.push(format!(
                "etcd would have {new} members, and an even number survives no more failures than {} would. Add one control plane more or one less, so that there are 3 or 5.",
                new - 1
            ));
        }
        if self.engine == Engine::Kubeonkube && refusals.is_empty() {
            let known = problems(self.before, &Settings::of(self.before, self.vars));
            let all = problems(self.after, &self.settings()).into_iter();
            refusals.extend(all.filter(|problem| !known.contains(problem)).map(|PlanProblem { message, .. }| message));
        }
        refusals
    }

    /// Whether nodes reach the Kubernetes API at an address that doesn't belong to one control plane.
    fn has_endpoint(&self) -> bool {
        let settings = self.settings();
        if settings.endpoint().is_some() || settings.is_template(BALANCER) || settings.is_template(SHARED) {
            return true;
        }
        let is = |name: &str, value: bool| {
            let text = if value { "true" } else { "false" };
            self.vars.get(name).is_some_and(|given| *given == value || *given == text)
        };
        // By default, a proxy on each worker of kubespray knows all control planes.
        self.engine == Engine::Kubespray && (is("kube_vip_enabled", true) || !is(LOCAL_BALANCER, false))
    }

    fn without_endpoint(&self) -> String {
        let first =
            self.before.control_plane().first().map_or("the first control plane", |host| host.name.as_str()).to_owned();
        match self.engine {
            Engine::Kubeonkube => format!(
                "The nodes of this cluster reach the Kubernetes API at {first} itself: it has no {BALANCER} and no {SHARED}, and that can't change after the installation. When {first} fails, other control planes wouldn't help. Create a cluster with one of the two, or add workers only."
            ),
            Engine::Kubespray => format!(
                "{LOCAL_BALANCER} is false and there is no {BALANCER}, so the nodes reach the Kubernetes API at {first} only. Set {BALANCER} to a load balancer, or remove {LOCAL_BALANCER}."
            ),
        }
    }

    /// What an operation with this limit does on the machines that don't join. `reset`: the one that is removed and cleaned afterwards.
    pub(super) fn others(&self, limit: &str, reset: Option<&str>) -> String {
        let all = self.after.hosts.len();
        if limit.is_empty() {
            return format!("It runs on all {all} machines, so that all control planes know each other.");
        }
        let joins = |host: &&inventory::Host| self.machines.iter().any(|machine| machine.name == host.name);
        let planes: Vec<&str> =
            self.after.control_plane().into_iter().filter(|host| !joins(host)).map(|host| host.name.as_str()).collect();
        let reset = reset.map(|node| format!("When the new machine has joined, {node} is drained and reset."));
        if self.engine == Engine::Kubespray {
            let facts = format!("kubespray reads the facts of all {all} machines first.");
            return std::iter::once(facts).chain(reset).collect::<Vec<_>>().join(" ");
        }
        let asked = match self.planes().is_empty() {
            _ if self.hosted => &[],
            true => planes.get(..1).unwrap_or_default(),
            false => &planes[..],
        };
        let others = all.saturating_sub(self.machines.len() + asked.len() + usize::from(reset.is_some()));
        let are = if asked.len() == 1 { "is" } else { "are" };
        let mut sentences: Vec<String> = Vec::new();
        if !asked.is_empty() {
            sentences.push(format!("{} {are} asked, too.", listed::listed(asked, NAMED, "more")));
        }
        sentences.extend(reset);
        match others {
            0 => {}
            1 => sentences.push("No task runs on the other machine.".into()),
            others => sentences.push(format!("No task runs on the other {others} machines.")),
        }
        sentences.join(" ")
    }

    /// What a user has to know first, as sentences. None if only workers are added.
    pub(super) fn consequences(&self) -> Vec<String> {
        let planes = self.planes();
        if planes.is_empty() {
            return Vec::new();
        }
        let names = listed::listed(&planes, NAMED, "more");
        let mut sentences = vec![self.etcd(&names)];
        match self.engine {
            Engine::Kubeonkube => sentences.push(format!(
                "The cluster's certificate authorities and keys are copied to {names}, encrypted, through a Secret that is deleted afterwards. Each machine gets its own certificates."
            )),
            Engine::Kubespray => {
                sentences.push(format!(
                    "The cluster's certificate authorities and keys are copied to {names} from the first control plane."
                ));
                if planes.iter().any(|name| is_member(self.after, name)) {
                    sentences.push(format!(
                        "Then {} runs with the same limit, so that every API server knows all members of etcd. It drains and restarts the control planes one after the other, and installs kube_version of the variables.",
                        operation::UPGRADE
                    ));
                }
            }
        }
        sentences.push(self.endpoint(&names));
        sentences
    }

    fn etcd(&self, names: &str) -> String {
        let (old, new) = (self.members(self.before), self.members(self.after));
        if new == old {
            let machines = api::count(old as u64, "machine", "machines");
            return format!("The Kubernetes API runs on {names}, too. etcd stays on its {machines}.");
        }
        let failures = |members: usize| match members.saturating_sub(1) / 2 {
            0 => "of none of them".to_owned(),
            failures => format!("of {failures} of them"),
        };
        let two = match self.before.control_plane().first() {
            Some(first) if old == 1 => {
                format!(" While it has 2, both must run: don't restart {} before the operation has ended.", first.name)
            }
            _ => String::new(),
        };
        format!(
            "etcd grows from {} to {new}, one after the other. With {old} it survives the failure {}, with {new} the failure {}.{two}",
            api::count(old as u64, "member", "members"),
            failures(old),
            failures(new)
        )
    }

    fn endpoint(&self, names: &str) -> String {
        if let Some(address) = self.settings().common_address().filter(|address| !address.is_empty()) {
            return format!(
                "Nodes reach the Kubernetes API at {address}, which the control planes share. {names} will share it, too: {} runs on all machines, so that all of them know each other.",
                operation::CREATE
            );
        }
        match self.settings().load_balancer() {
            Some((address, port)) => {
                let of_api = self.settings().text("kube_apiserver_port");
                format!(
                    "Nodes reach the Kubernetes API at {address}:{port}. When the operation has succeeded, add port {of_api} of {names} to this load balancer."
                )
            }
            None if self.engine == Engine::Kubespray => format!(
                "Each worker reaches the Kubernetes API through its own proxy, which doesn't know {names} yet. Afterwards, run {} without a limit, then restart the nginx-proxy pods.",
                operation::CREATE
            ),
            None => {
                format!("When the operation has succeeded, add {names} to the load balancer of the Kubernetes API.")
            }
        }
    }
}

const BALANCER: &str = "loadbalancer_apiserver";
const SHARED: &str = "kube_vip_address";
const LOCAL_BALANCER: &str = "loadbalancer_apiserver_localhost";

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "kube_control_plane: {hosts: {cp1: {ansible_host: 192.0.2.1}}}\nkube_node: {hosts: {w1: {ansible_host: 192.0.2.9}}}\netcd: {hosts: {cp1: {}}}\n";
    const LB: &str = "loadbalancer_apiserver: {address: 192.0.2.99}";

    fn machines(planes: &[&str], workers: &[&str]) -> Vec<Machine> {
        let machine = |name: &&str, role| Machine { name: (*name).into(), roles: vec![role], ..Machine::default() };
        let planes = planes.iter().map(|name| machine(name, Role::ControlPlane));
        planes.chain(workers.iter().map(|name| machine(name, Role::Worker))).collect()
    }

    /// What these machines lead to: refusals, or the consequences.
    fn told(machines: &[Machine], vars: &str, engine: Engine) -> Result<Vec<String>, String> {
        let before = inventory::parse(ONE).unwrap();
        let after = inventory::parse(&inventory::add_machines(ONE, machines).unwrap()).unwrap();
        let vars = inventory::parse_vars(vars).unwrap();
        let joining = Joining { machines, before: &before, after: &after, vars: &vars, engine, hosted: false };
        let refusals = joining.refusals();
        if refusals.is_empty() { Ok(joining.consequences()) } else { Err(refusals.join(" ")) }
    }

    #[test]
    fn an_even_number_of_members_is_refused() {
        for engine in [Engine::Kubeonkube, Engine::Kubespray] {
            let two = told(&machines(&["cp2"], &[]), LB, engine).unwrap_err();
            assert!(two.contains("etcd would have 2 members") && two.contains("than 1 would"), "{two}");
            assert!(told(&machines(&["cp2", "cp3"], &["w2"]), LB, engine).is_ok());
            assert_eq!(told(&machines(&[], &["w2"]), "", engine), Ok(vec![]), "workers have no consequences");
        }
    }

    #[test]
    fn control_planes_need_an_address_that_leads_to_all_of_them() {
        let two = machines(&["cp2", "cp3"], &[]);
        let ours = told(&two, "", Engine::Kubeonkube).unwrap_err();
        assert!(ours.contains("reach the Kubernetes API at cp1 itself") && ours.contains("can't change"), "{ours}");
        let local = told(&two, "", Engine::Kubespray).unwrap();
        assert!(local.last().unwrap().contains("nginx-proxy"), "{local:?}");
        let none = told(&two, "loadbalancer_apiserver_localhost: false", Engine::Kubespray).unwrap_err();
        assert!(none.contains("at cp1 only"), "{none}");
    }

    #[test]
    fn new_control_planes_share_the_address_of_the_others() {
        let vars = "kube_vip_enabled: true\nkube_vip_address: 192.0.2.99\n";
        let told = told(&machines(&["cp2", "cp3"], &[]), vars, Engine::Kubeonkube).unwrap();
        assert!(
            told[2].contains("at 192.0.2.99, which the control planes share. cp2 and cp3 will share it, too"),
            "{told:?}"
        );
        let (after, vars) = (inventory::parse(ONE).unwrap(), inventory::parse_vars(vars).unwrap());
        let cluster: ClusterName = "prod".parse().unwrap();
        let limit = |vars: &Vars| {
            operation(&cluster, &machines(&["cp2", "cp3"], &[]), &after, vars, Engine::Kubeonkube, false).limit
        };
        assert_eq!(limit(&vars), "", "the others must learn of the new ones");
        assert_eq!(limit(&inventory::parse_vars(LB).unwrap()), "cp2,cp3");
    }

    #[test]
    fn the_quorum_before_and_after_comes_first() {
        let two = machines(&["cp2", "cp3"], &[]);
        let told = told(&two, LB, Engine::Kubeonkube).unwrap();
        assert!(told[0].starts_with("etcd grows from 1 member to 3, one after the other."), "{told:?}");
        assert!(told[0].contains("With 1 it survives the failure of none of them, with 3 the failure of 1 of them."));
        assert!(told[0].ends_with("don't restart cp1 before the operation has ended."), "{told:?}");
        assert!(told[2].contains("at 192.0.2.99:6443") && told[2].contains("port 6443 of cp2 and cp3"), "{told:?}");
    }

    #[test]
    fn what_the_playbooks_refuse_for_other_reasons_is_told() {
        let mut inside = machines(&[], &["w2"]);
        inside[0].address = Some("10.233.64.7".into());
        let why = told(&inside, "", Engine::Kubeonkube).unwrap_err();
        assert!(why.contains("The address 10.233.64.7 of w2 is in the network of pods"), "{why}");
    }

    #[test]
    fn the_work_on_other_machines_is_told() {
        let with_reset = |machines: &[Machine], limit: &str, engine, hosted, reset| {
            let before = inventory::parse(ONE).unwrap();
            let after = inventory::parse(&inventory::add_machines(ONE, machines).unwrap()).unwrap();
            let vars = Vars::default();
            Joining { machines, before: &before, after: &after, vars: &vars, engine, hosted }.others(limit, reset)
        };
        let told = |machines: &[Machine], limit, engine, hosted| with_reset(machines, limit, engine, hosted, None);
        let (worker, two) = (machines(&[], &["w2"]), machines(&["cp2", "cp3"], &["w2"]));
        let ours = Engine::Kubeonkube;
        assert_eq!(told(&worker, "w2", ours, false), "cp1 is asked, too. No task runs on the other machine.");
        assert_eq!(told(&two, "cp2,cp3,w2", ours, false), "cp1 is asked, too. No task runs on the other machine.");
        assert_eq!(told(&worker, "w2", ours, true), "No task runs on the other 2 machines.");
        assert!(told(&two, "", ours, false).starts_with("It runs on all 5 machines"));
        assert!(told(&worker, "w2", Engine::Kubespray, false).contains("facts of all 3 machines"));
        let replaced = |engine| with_reset(&worker, "w2", engine, false, Some("w1"));
        let ends = "When the new machine has joined, w1 is drained and reset.";
        assert_eq!(replaced(ours), format!("cp1 is asked, too. {ends}"), "no other machine is left");
        assert!(replaced(Engine::Kubespray).ends_with(ends));
    }

    #[test]
    fn each_engine_gets_its_playbooks_and_limit() {
        let of = |machines: &[Machine], engine| {
            let after = inventory::parse(&inventory::add_machines(ONE, machines).unwrap()).unwrap();
            let new = operation(&"prod".parse().unwrap(), machines, &after, &Vars::default(), engine, false);
            let Action::Builtin { playbook, .. } = new.action else { panic!("a playbook") };
            [vec![playbook, new.limit], new.arguments, new.post_hooks].concat().join(" ")
        };
        let mixed = machines(&["cp2", "cp3"], &["w2"]);
        assert_eq!(of(&machines(&[], &["w2", "w3"]), Engine::Kubespray), "scale.yml w2,w3");
        assert_eq!(of(&mixed, Engine::Kubeonkube), "cluster.yml cp2,cp3,w2");
        assert_eq!(
            of(&mixed, Engine::Kubespray),
            "cluster.yml etcd,kube_control_plane,w2 -e etcd_retries=10 upgrade-cluster.yml"
        );
    }
}
