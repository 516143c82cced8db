//! An inventory, with ansible's rules applied.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::vars::Vars;

/// Hosts and groups, in the order in which the file first mentions them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inventory {
    pub hosts: Vec<Host>,
    /// `all` first.
    pub groups: Vec<Group>,
    /// Sentences about old names of groups, and what ansible skips, never reads or only warns about.
    pub warnings: Vec<String>,
}

/// One host. As in ansible, every host of a group is also in `all`, even if `all` doesn't list it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Host {
    pub name: String,
    /// The effective `ansible_host`, from the host or its groups. Without it, ansible connects to the name.
    pub address: Option<String>,
    /// The effective `ansible_port`. `None` if it isn't set or is a template.
    pub port: Option<u16>,
    /// The effective `ansible_user`.
    pub user: Option<String>,
    /// The effective `ansible_connection`. Without it, ansible uses `ssh`.
    pub connection: Option<String>,
    /// Groups that list the host directly, without `all`.
    pub groups: Vec<String>,
    /// The host's roles in a Kubernetes cluster, from its groups and the groups above them.
    pub roles: Vec<Role>,
    /// Variables set directly on the host.
    pub vars: Vars,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    pub name: String,
    /// Hosts that the group lists directly.
    pub hosts: Vec<String>,
    /// Groups directly below it.
    pub children: Vec<String>,
    pub vars: Vars,
}

/// A role of a host, given by kubespray's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[serde(rename = "kube_control_plane")]
    ControlPlane,
    #[serde(rename = "kube_node")]
    Worker,
    Etcd,
    CalicoRr,
    Bastion,
}

impl Role {
    /// In the order in which an inventory lists them.
    pub const ALL: [Self; 5] = [Self::ControlPlane, Self::Worker, Self::Etcd, Self::CalicoRr, Self::Bastion];

    /// The group of hosts that have this role.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Self::ControlPlane => "kube_control_plane",
            Self::Worker => "kube_node",
            Self::Etcd => "etcd",
            Self::CalicoRr => "calico_rr",
            Self::Bastion => "bastion",
        }
    }

    /// The name that kubespray's group had before, and that kubespray still reads.
    #[must_use]
    pub fn old_group(self) -> Option<&'static str> {
        match self {
            Self::ControlPlane => Some("kube-master"),
            Self::Worker => Some("kube-node"),
            Self::CalicoRr => Some("calico-rr"),
            Self::Etcd | Self::Bastion => None,
        }
    }

    /// Whether hosts of this group have the role.
    #[must_use]
    pub fn is_given_by(self, group: &str) -> bool {
        group == self.group() || Some(group) == self.old_group()
    }

    /// The role that a word means: the name of a group, or a word like `worker` or `control-plane`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase().replace('-', "_");
        match word.as_str() {
            "control_plane" | "controlplane" | "master" | "kube_master" => Some(Self::ControlPlane),
            "worker" | "node" => Some(Self::Worker),
            group => Self::ALL.into_iter().find(|role| role.group() == group),
        }
    }
}

/// As pages show it: `control plane`, `node`, `etcd`.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ControlPlane => "control plane",
            Self::Worker => "node",
            Self::Etcd => "etcd",
            Self::CalicoRr => "route reflector",
            Self::Bastion => "bastion",
        })
    }
}

impl Inventory {
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    #[must_use]
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The names of all hosts and groups.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let hosts = self.hosts.iter().map(|host| host.name.as_str());
        hosts.chain(self.groups.iter().map(|group| group.name.as_str())).collect()
    }

    /// Hosts with `role`, in the order of the role's group: kubespray's first control plane is the first of that group.
    /// Hosts that have the role through a child group come last.
    #[must_use]
    pub fn with_role(&self, role: Role) -> Vec<&Host> {
        let names = [Some(role.group()), role.old_group()];
        let listed = names.into_iter().flatten().filter_map(|name| self.group(name)).flat_map(|group| &group.hosts);
        let place: HashMap<&str, usize> = listed.enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let mut hosts: Vec<&Host> = self.hosts.iter().filter(|host| host.roles.contains(&role)).collect();
        hosts.sort_by_key(|host| place.get(host.name.as_str()).copied().unwrap_or(usize::MAX));
        hosts
    }

    /// Groups with names that kubespray gave up and still reads, each with its present name.
    pub(crate) fn old_groups(&self) -> Vec<(&Group, &'static str)> {
        const OTHERS: [(&str, &str); 2] = [("k8s-cluster", "k8s_cluster"), ("no-floating", "no_floating")];
        let of_roles = Role::ALL.into_iter().filter_map(|role| Some((role.old_group()?, role.group())));
        let old = of_roles.chain(OTHERS);
        old.filter_map(|(old, new)| Some((self.group(old)?, new))).collect()
    }

    /// Hosts of `kube_control_plane`.
    #[must_use]
    pub fn control_plane(&self) -> Vec<&Host> {
        self.with_role(Role::ControlPlane)
    }

    /// Hosts of `kube_node`, including control planes that also run workloads.
    #[must_use]
    pub fn workers(&self) -> Vec<&Host> {
        self.with_role(Role::Worker)
    }

    /// Hosts of `etcd`.
    #[must_use]
    pub fn etcd(&self) -> Vec<&Host> {
        self.with_role(Role::Etcd)
    }
}
