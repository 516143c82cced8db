//! The variables of a cluster with the defaults of our playbooks.

use std::sync::LazyLock;

use serde_json::Value;

use crate::inventory::Inventory;
use crate::vars::{Vars, parse_vars, text};

/// The playbooks' own file, so that console and playbooks have the same defaults.
static DEFAULTS: LazyLock<Vars> = LazyLock::new(|| {
    let file = include_str!("../../../../deploy/runner/playbooks/roles/variables/defaults/main.yml");
    parse_vars(file).expect("a test reads the same file")
});

/// Groups whose variables all nodes get, the strongest first.
const GROUPS: [&str; 2] = ["k8s_cluster", "all"];

/// The values that a run of our playbooks would use.
#[derive(Debug, Clone)]
pub struct Settings(Vars);

impl Settings {
    /// The variables override those of the inventory's groups.
    #[must_use]
    pub fn of(inventory: &Inventory, vars: &Vars) -> Self {
        let groups = GROUPS.iter().filter_map(|name| inventory.group(name)).map(|group| &group.vars);
        let given = DEFAULTS.keys().filter_map(|name| {
            let value = std::iter::once(vars).chain(groups.clone()).find_map(|vars| vars.get(name));
            Some((name.clone(), value?.clone()))
        });
        Self(given.collect())
    }

    /// The value of a variable; `Null` if the playbooks don't know it.
    #[must_use]
    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).or_else(|| DEFAULTS.get(name)).unwrap_or(&Value::Null)
    }

    /// The value as a text.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        text(self.get(name))
    }

    /// The value as a number; `None` if it is none.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.text(name).parse().ok()
    }

    #[must_use]
    pub fn is_default(&self, name: &str) -> bool {
        !self.0.contains_key(name)
    }

    /// Whether the value contains a template, which only ansible can evaluate.
    #[must_use]
    pub fn is_template(&self, name: &str) -> bool {
        self.text(name).contains("{{")
    }

    /// The address that the control planes share; `None` if they share none. It may be empty or invalid.
    #[must_use]
    pub fn common_address(&self) -> Option<String> {
        let is_on = matches!(self.text("kube_vip_enabled").to_lowercase().as_str(), "true" | "yes" | "on" | "1");
        is_on.then(|| self.text("kube_vip_address"))
    }

    /// Address and port at which nodes reach several control planes: those of the load balancer, or the address that the control planes
    /// share; `None` if there is neither.
    #[must_use]
    pub fn endpoint(&self) -> Option<(String, u32)> {
        let common = self.common_address().filter(|address| !address.is_empty());
        common.map(|address| (address, self.api_port())).or_else(|| self.load_balancer())
    }

    fn api_port(&self) -> u32 {
        self.number("kube_apiserver_port").unwrap_or(6443)
    }

    /// Address and port of the load balancer; `None` if there is none.
    #[must_use]
    pub fn load_balancer(&self) -> Option<(String, u32)> {
        let balancer = self.get("loadbalancer_apiserver").as_object()?;
        let address = balancer.get("address").map(text).filter(|address| !address.is_empty())?;
        let port = balancer.get("port").map(text).and_then(|port| port.parse().ok());
        Some((address, port.unwrap_or_else(|| self.api_port())))
    }
}

/// The default of a variable as a text.
#[must_use]
pub fn default_of(name: &str) -> String {
    DEFAULTS.get(name).map(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_comes_from_the_file_then_groups_then_defaults() {
        let hosts = "all: {hosts: {a: {}}, vars: {kube_version: 1.33.1, dns_domain: a.local}, children: {k8s_cluster: {vars: {dns_domain: b.local}}}}";
        let inventory = crate::parse(hosts).unwrap();
        let settings = Settings::of(&inventory, &parse_vars("kube_version: v1.34.1\n").unwrap());
        assert_eq!(settings.text("kube_version"), "v1.34.1");
        assert_eq!(settings.text("dns_domain"), "b.local");
        assert_eq!(settings.text("kube_pods_subnet"), "10.233.64.0/18");
        assert!(settings.is_default("kube_pods_subnet") && !settings.is_default("dns_domain"));
        assert_eq!(settings.get("motd"), &Value::Null);
    }

    #[test]
    fn a_load_balancer_without_a_port_has_that_of_the_api() {
        let balancer = |vars: &str| Settings::of(&Inventory::default(), &parse_vars(vars).unwrap()).load_balancer();
        assert_eq!(balancer(""), None);
        assert_eq!(balancer("loadbalancer_apiserver: {address: lb.example}"), Some(("lb.example".into(), 6443)));
        assert_eq!(balancer("loadbalancer_apiserver: {address: lb, port: '8443'}"), Some(("lb".into(), 8443)));
    }

    #[test]
    fn a_common_address_is_the_endpoint() {
        let endpoint = |vars: &str| Settings::of(&Inventory::default(), &parse_vars(vars).unwrap()).endpoint();
        let common = "kube_vip_address: 192.0.2.10\nkube_apiserver_port: 8443\n";
        assert_eq!(endpoint(common), None);
        assert_eq!(endpoint(&format!("{common}kube_vip_enabled: true\n")), Some(("192.0.2.10".into(), 8443)));
        assert_eq!(endpoint("loadbalancer_apiserver: {address: lb}"), Some(("lb".into(), 6443)));
    }
}
