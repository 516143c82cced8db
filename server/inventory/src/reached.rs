//! How ansible reaches a host. The variables of the cluster are passed as extra variables, so they override the inventory.

use std::collections::HashSet;
use std::fmt;

use crate::inventory::{Host, Inventory};
use crate::jump::{canonical, jump_hosts};
use crate::vars::{Vars, text};

/// The names of one variable. The first one that is set counts.
type Names = [&'static str];

pub(crate) const ADDRESS: &Names = &["ansible_host", "ansible_ssh_host"];
pub(crate) const PORT: &Names = &["ansible_port", "ansible_ssh_port"];
pub(crate) const USER: &Names = &["ansible_user", "ansible_ssh_user"];
pub(crate) const CONNECTION: &Names = &["ansible_connection"];

/// The value of the first of these names that is set. `None` if it is empty or null.
pub(crate) fn first_set(vars: &Vars, names: &Names) -> Option<String> {
    names
        .iter()
        .find_map(|name| vars.get(*name))
        .filter(|value| !value.is_null())
        .map(text)
        .filter(|text| !text.is_empty())
}

/// How a host is reached, displayed as `local`, `root@10.0.0.1:2222` or `10.0.0.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// `ssh`, `local`, … without the name of a collection.
    pub connection: String,
    pub address: String,
    /// `None` if it isn't set or is a template.
    pub port: Option<u16>,
    pub user: Option<String>,
}

/// Where SSH finds a machine. Hosts with the same place are one machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SshPlace {
    /// An IP address in canonical form, or a name in lower case.
    pub address: String,
    pub port: u16,
    /// The jump hosts on the way: networks behind different ones may use the same addresses.
    pub jump: Option<String>,
}

impl Host {
    /// How ansible reaches this host with these extra variables.
    #[must_use]
    pub fn reached(&self, vars: &Vars) -> Reached {
        let connection = first_set(vars, CONNECTION).or(self.connection.clone()).unwrap_or_else(|| "ssh".into());
        let connection = connection.strip_prefix("ansible.builtin.").map(ToOwned::to_owned).unwrap_or(connection);
        let address = first_set(vars, ADDRESS).or(self.address.clone()).unwrap_or_else(|| self.name.clone());
        let port = first_set(vars, PORT).map_or(self.port, |port| port.parse().ok());
        Reached { connection, address, port, user: first_set(vars, USER).or(self.user.clone()) }
    }
}

impl Inventory {
    /// The first of these names that is set for the host: in the cluster's variables, by the host, or by a group that it is in.
    fn set_for(&self, host: &Host, vars: &Vars, names: &Names) -> Option<String> {
        let mut above: HashSet<&str> = HashSet::from(["all"]);
        let mut queue: Vec<&str> = host.groups.iter().map(String::as_str).collect();
        while let Some(name) = queue.pop() {
            if above.insert(name) {
                let parents = self.groups.iter().filter(|group| group.children.iter().any(|child| child == name));
                queue.extend(parents.map(|group| group.name.as_str()));
            }
        }
        let groups = self.groups.iter().filter(|group| above.contains(group.name.as_str())).map(|group| &group.vars);
        [vars, &host.vars].into_iter().chain(groups).find_map(|vars| first_set(vars, names))
    }

    /// Whether a run logs in to this host with a password, with a key of its own or with options of its own, instead of only the
    /// cluster's key.
    #[must_use]
    pub fn has_own_login(&self, host: &Host, vars: &Vars) -> bool {
        const PASSWORD: &Names = &["ansible_password", "ansible_ssh_pass", "ansible_ssh_password"];
        const KEY: &Names = &["ansible_ssh_private_key_file", "ansible_private_key_file"];
        const OPTIONS: [&Names; 3] = [&["ansible_ssh_common_args"], &["ansible_ssh_extra_args"], &["ansible_ssh_args"]];
        [PASSWORD, KEY].into_iter().chain(OPTIONS).any(|names| self.set_for(host, vars, names).is_some())
    }

    /// Whether ssh goes through a jump host to reach this host, by `ansible_ssh_common_args` of the cluster's variables, the host or a
    /// group that lists it.
    #[must_use]
    pub fn is_behind_jump_host(&self, host: &Host, vars: &Vars) -> bool {
        self.jump(host, vars).is_some()
    }

    fn jump(&self, host: &Host, vars: &Vars) -> Option<String> {
        jump_hosts(&self.set_for(host, vars, &["ansible_ssh_common_args"])?)
    }

    /// Where SSH finds this host; `None` if it isn't reached over SSH, or if its address or its jump host is a template.
    #[must_use]
    pub fn ssh_place(&self, host: &Host, vars: &Vars) -> Option<SshPlace> {
        let (reached, jump) = (host.reached(vars), self.jump(host, vars));
        let is_template = reached.address.contains("{{") || jump.as_ref().is_some_and(|jump| jump.contains("{{"));
        let is_known = reached.is_ssh() && !is_template;
        is_known.then(|| SshPlace { address: canonical(&reached.address), port: reached.port.unwrap_or(22), jump })
    }
}

impl Reached {
    /// Whether ansible runs on this host itself, without SSH.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.connection == "local"
    }

    /// Whether ansible uses its ssh connection.
    #[must_use]
    pub fn is_ssh(&self) -> bool {
        matches!(self.connection.as_str(), "ssh" | "smart")
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_local() {
            return f.write_str("local");
        }
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.port {
            None => f.write_str(&self.address),
            Some(port) if self.address.contains(':') => write!(f, "[{}]:{port}", self.address),
            Some(port) => write!(f, "{}:{port}", self.address),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse, parse_vars};

    #[test]
    fn a_jump_host_is_found_in_host_group_and_variables() {
        let jump = "ansible_ssh_common_args: -o ProxyJump=ops@192.0.2.9";
        let is_behind = |host: &str, group: &str, vars: &str| {
            let text = format!("g: {{hosts: {{a: {{{host}}}}}, vars: {{{group}}}}}");
            let inventory = parse(&text).unwrap();
            inventory.is_behind_jump_host(&inventory.hosts[0], &parse_vars(vars).unwrap())
        };
        assert!(is_behind(jump, "", "") && is_behind("", jump, "") && is_behind("", "", jump));
        assert!(!is_behind("", "", "ansible_ssh_common_args: -o ConnectTimeout=5"));
    }

    #[test]
    fn one_machine_has_one_place() {
        let place = |host: &str, vars: &str| {
            let inventory = parse(&format!("all: {{hosts: {{Web: {{{host}}}}}}}")).unwrap();
            inventory.ssh_place(&inventory.hosts[0], &parse_vars(vars).unwrap())
        };
        let plain = place("ansible_host: 'FD00:0::1'", "").unwrap();
        assert_eq!((plain.address.as_str(), plain.port, plain.jump.as_deref()), ("fd00::1", 22, None));
        assert_eq!(place("ansible_host: 'fd00::1', ansible_port: 22", ""), Some(plain.clone()));
        assert_ne!(place("ansible_host: 'fd00::1'", "ansible_port: 2222"), Some(plain.clone()));
        let behind = |options: &str| {
            let vars = format!("ansible_ssh_common_args: {options}");
            place("ansible_host: 'fd00::1'", &vars)
        };
        assert_ne!(behind("-J ops@192.0.2.9"), Some(plain));
        assert_eq!(behind("-J ops@192.0.2.9"), behind("-o ProxyCommand='ssh -W %h:%p 192.0.2.9'"));
        assert_ne!(behind("-J ops@192.0.2.9"), behind("-J ops@192.0.2.8"));
        assert_eq!(behind("-o ProxyJump={{ jump }}"), None);
        assert_eq!(place("", "").unwrap().address, "web");
        assert_eq!(place("ansible_connection: local", ""), None);
        assert_eq!(place("ansible_host: '{{ it }}'", ""), None);
    }

    #[test]
    fn an_own_login_is_found_in_all_groups_of_a_host() {
        let has_own = |vars: &str| {
            let text = format!(
                "a: {{children: {{b: {{children: {{c: {{}}}}}}}}, vars: {{{vars}}}}}\nc: {{hosts: {{m: {{}}}}}}\nother: {{vars: {{ansible_password: x}}}}"
            );
            let inventory = parse(&text).unwrap();
            inventory.has_own_login(&inventory.hosts[0], &crate::Vars::new())
        };
        assert!(has_own("ansible_password: x") && has_own("ansible_ssh_private_key_file: /k"));
        assert!(has_own("ansible_ssh_extra_args: -i /k"));
        assert!(!has_own("ansible_user: ann"));
    }

    #[test]
    fn extra_variables_override_the_inventory() {
        let reached = |host: &str, vars: &str| {
            let inventory = parse(&format!("all: {{hosts: {{a: {host}}}}}")).unwrap();
            inventory.hosts[0].reached(&parse_vars(vars).unwrap()).to_string()
        };
        let host = "{ansible_host: 192.0.2.1, ansible_user: me}";
        assert_eq!(reached(host, ""), "me@192.0.2.1");
        assert_eq!(reached(host, "ansible_user: ubuntu\nansible_port: '2222'"), "ubuntu@192.0.2.1:2222");
        assert_eq!(reached(host, "ansible_ssh_port: 2222\nansible_ssh_user: 1000"), "1000@192.0.2.1:2222");
        assert_eq!(reached("{ansible_port: 2222}", "ansible_port: '{{ p }}'"), "a", "the port is a template");
        assert_eq!(reached(host, "ansible_connection: ansible.builtin.local"), "local");
        assert_eq!(reached("{ansible_connection: local}", "ansible_connection: ssh"), "a");
        assert_eq!(reached("{ansible_host: 'fd00::1', ansible_port: 22}", ""), "[fd00::1]:22");
    }
}
