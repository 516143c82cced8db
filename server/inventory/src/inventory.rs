//! What an inventory says, with ansible's rules applied.

use std::{collections::HashMap, fmt};

use serde::{Deserialize, Serialize};

use crate::vars::Vars;

/// Hosts and groups in the order they first stand in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inventory {
    pub hosts: Vec<Host>,
    /// `all` first.
    pub groups: Vec<Group>,
    /// What ansible would only mutter about: keys it skips, names used twice. Sentences.
    pub warnings: Vec<String>,
}

/// One host. A host named in any group is in `all`, whether listed there or not, as in ansible.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Host {
    pub name: String,
    /// `ansible_host` as it applies, from the host or its groups; None: ansible connects to the name.
    pub address: Option<String>,
    /// `ansible_port` as it applies; None where it is not set or is a template.
    pub port: Option<u16>,
    /// `ansible_user` as it applies.
    pub user: Option<String>,
    /// `ansible_connection` as it applies (`ssh` where it is not set).
    pub connection: Option<String>,
    /// Groups that list the host itself, without `all`.
    pub groups: Vec<String>,
    /// What the host does in a Kubernetes cluster, through its groups and the groups above them.
    pub roles: Vec<Role>,
    /// Variables set on the host itself.
    pub vars: Vars,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    pub name: String,
    /// Hosts listed in the group itself.
    pub hosts: Vec<String>,
    /// Groups directly below it.
    pub children: Vec<String>,
    pub vars: Vars,
}

/// What kubespray's groups make of a host.
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
    /// In the order an inventory lists them.
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

    /// The role that a person means: a group's name, or a word like `worker` or `control-plane`.
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

/// As pages say it: `control plane`, `node`, `etcd`.
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

    /// Hosts with `role`, in the order of its group, which may differ from the order of [`Inventory::hosts`]: kubespray's
    /// first control plane is the first of its group. Those that come through groups below follow.
    #[must_use]
    pub fn with_role(&self, role: Role) -> Vec<&Host> {
        let listed = self.group(role.group()).map_or(&[][..], |group| &group.hosts);
        let place: HashMap<&str, usize> = listed.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let mut hosts: Vec<&Host> = self.hosts.iter().filter(|host| host.roles.contains(&role)).collect();
        hosts.sort_by_key(|host| place.get(host.name.as_str()).copied().unwrap_or(usize::MAX));
        hosts
    }

    /// Hosts of `kube_control_plane`.
    #[must_use]
    pub fn control_plane(&self) -> Vec<&Host> {
        self.with_role(Role::ControlPlane)
    }

    /// Hosts of `kube_node`; a control plane that also runs workloads is among them.
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
