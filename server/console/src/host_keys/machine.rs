//! The SSH addresses of machines, from the inventory.

use std::net::IpAddr;

use inventory::{Inventory, Vars};

/// A machine that is reached over SSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) port: u16,
}

/// The machines of an inventory that are reached over SSH.
pub(super) fn machines(inventory: &Inventory, vars: &Vars) -> Vec<Machine> {
    // ssh looks up IP addresses in canonical form.
    let canonical = |address: &str| address.parse::<IpAddr>().map_or_else(|_| address.to_owned(), |ip| ip.to_string());
    let reached = inventory.hosts.iter().map(|host| (host, host.reached(vars))).filter(|(_, reached)| reached.is_ssh());
    reached
        .map(|(host, reached)| Machine {
            name: host.name.clone(),
            address: canonical(&reached.address),
            port: reached.port.unwrap_or(22),
        })
        .collect()
}

impl Machine {
    /// Its name in known_hosts: `10.0.0.11`, or with another port `[10.0.0.11]:2222`.
    pub(super) fn known_as(&self) -> String {
        let address = self.address.to_ascii_lowercase();
        if self.port == 22 { address } else { format!("[{address}]:{}", self.port) }
    }

    /// Whether the address can be scanned: a name or an IP address, not a template.
    pub(super) fn can_be_asked(&self) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '_' | '%');
        self.address.starts_with(|c: char| c.is_ascii_alphanumeric() || c == ':') && self.address.chars().all(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inventory: &str, vars: &str) -> Vec<(String, bool)> {
        let machines = machines(&inventory::parse(inventory).unwrap(), &inventory::parse_vars(vars).unwrap());
        machines.iter().map(|machine| (machine.known_as(), machine.can_be_asked())).collect()
    }

    #[test]
    fn machines_have_the_names_that_ssh_looks_up() {
        let inventory = "all: {hosts: {Node1: {}, b: {ansible_host: 'FD00:0:0:0::1', ansible_port: 2222}, c: {ansible_connection: local}}}";
        assert_eq!(of(inventory, ""), [("node1".into(), true), ("[fd00::1]:2222".into(), true)]);
        assert_eq!(of(inventory, "ansible_port: '24'")[0].0, "[node1]:24", "extra variables win");
        assert!(of(inventory, "ansible_connection: local").is_empty());
    }

    #[test]
    fn only_host_names_and_ip_addresses_are_scanned() {
        for address in ["-oProxyCommand=x", "a,b", "a b", "{{ ip }}", "#a", "a\\nb"] {
            let inventory = format!("all: {{hosts: {{a: {{ansible_host: \"{address}\"}}}}}}");
            assert!(of(&inventory, "").iter().all(|(_, asked)| !asked), "{address}");
        }
    }
}
