//! The commands that store kubespray's kubeconfig where the server reads it. The built-in engine stores its own.

use api::User;
use api::cluster::{LiveCluster, LiveState};
use crd::{Cluster, DataRef, Engine};
use inventory::kubernetes::Settings;
use inventory::{Inventory, Vars};
use kube::ResourceExt;

use crate::Console;
use crate::configuration::Inputs;

/// In place of what the inventory doesn't tell.
const UNKNOWN: &str = "FIRST_CONTROL_PLANE";

impl Console {
    /// Whether the pages of a cluster show the commands: it is one of kubespray and has no kubeconfig.
    pub(crate) fn lacks_kubeconfig_of_kubespray(&self, cluster: &Cluster, live: LiveState) -> bool {
        let is_hosted = cluster.spec.hosted.is_some();
        live == LiveState::NoKubeconfig && !is_hosted && self.engine_of(cluster) == Engine::Kubespray
    }

    /// `live` with the commands, if they are shown. Reads the inputs for them.
    pub(crate) async fn with_kubeconfig_commands(
        &self,
        user: &User,
        cluster: &Cluster,
        live: LiveCluster,
    ) -> LiveCluster {
        if !self.lacks_kubeconfig_of_kubespray(cluster, live.state) {
            return live;
        }
        let inputs = match self.shared.access.client(user) {
            Ok(client) => Inputs::read(client, cluster).await.ok(),
            Err(_) => None,
        };
        let text = inputs.as_ref().and_then(|inputs| inputs.hosts.usable().ok());
        let inventory = text.and_then(|text| inventory::parse(text).ok()).unwrap_or_default();
        let vars = inputs.as_ref().map(Inputs::vars_or_none).unwrap_or_default();
        LiveCluster { kubeconfig_commands: commands(cluster, &inventory, &vars), ..live }
    }
}

/// The commands of one cluster. Kubespray's kubeconfig names an address that only the machine itself or the nodes know, so it is replaced.
pub(crate) fn commands(cluster: &Cluster, inventory: &Inventory, vars: &Vars) -> String {
    let settings = Settings::of(inventory, vars);
    let first = inventory.control_plane().first().copied();
    let reached = first.map(|host| host.reached(vars));
    let address = reached.as_ref().map_or(UNKNOWN, |reached| plain(&reached.address, UNKNOWN));
    let user = reached.as_ref().and_then(|reached| reached.user.as_deref()).map(|user| plain(user, "USER"));
    let port = reached.as_ref().and_then(|reached| reached.port).map(|port| format!("-p {port} ")).unwrap_or_default();
    let login = user.map(|user| format!("{user}@")).unwrap_or_default();
    let sudo = if user == Some("root") { "" } else { "sudo " };
    // The certificate of the API server is valid for these.
    let own = ["access_ip", "ip"].into_iter().find_map(|name| first?.vars.get(name)?.as_str());
    let own = own.map(|own| plain(own, UNKNOWN));
    let (server, server_port) = match settings.endpoint() {
        Some((address, port)) => (plain(&address, UNKNOWN).to_owned(), port.to_string()),
        None => (own.unwrap_or(address).to_owned(), settings.text("kube_apiserver_port")),
    };
    let server = if server.contains(':') { format!("[{server}]") } else { server };
    let DataRef { namespace, name } = managed::place(cluster);
    let cluster = cluster.name_any();
    format!(
        "(umask 077; ssh {port}{login}{address} \"{sudo}sed 's|server: .*|server: https://{server}:{server_port}|' /etc/kubernetes/admin.conf\" > {cluster}.kubeconfig) &&\n\
         kubectl --namespace={namespace} create secret generic {name} --from-file={key}={cluster}.kubeconfig\n\
         rm {cluster}.kubeconfig",
        key = crd::KEY_KUBECONFIG,
        server_port = plain(&server_port, "PORT"),
    )
}

/// The text, if a shell reads it as it is. Other texts, such as templates of ansible, become the word `instead`, in whose place the user
/// writes the value.
fn plain<'t>(text: &'t str, instead: &'t str) -> &'t str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if text.chars().all(is_plain) && !text.starts_with('-') { text } else { instead }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(hosts: &str, vars: &str) -> String {
        let (inventory, vars) = (inventory::parse(hosts).unwrap(), inventory::parse_vars(vars).unwrap());
        let spec =
            crd::ClusterSpec { hosts_conf_ref: DataRef::new("machines", "hosts"), ..crd::ClusterSpec::default() };
        commands(&Cluster::new("prod", spec), &inventory, &vars)
    }

    const HOSTS: &str = "kube_control_plane: {hosts: {cp1: {ansible_host: 192.0.2.1, ansible_user: ops}}}\n";

    #[test]
    fn the_kubeconfig_of_the_first_control_plane_becomes_a_secret() {
        let expected = "(umask 077; ssh ops@192.0.2.1 \"sudo sed 's|server: .*|server: https://192.0.2.1:6443|' /etc/kubernetes/admin.conf\" > prod.kubeconfig) &&\nkubectl --namespace=machines create secret generic prod-kubeconfig --from-file=kubeconfig=prod.kubeconfig\nrm prod.kubeconfig";
        assert_eq!(shown(HOSTS, ""), expected);
    }

    #[test]
    fn the_address_is_one_that_the_certificate_names() {
        let of = |host: &str, vars: &str| shown(&format!("kube_control_plane: {{hosts: {{cp1: {{{host}}}}}}}\n"), vars);
        let own = of("ansible_host: 203.0.113.1, ip: 10.0.0.1, ansible_user: root, ansible_port: 2222", "");
        assert!(own.contains("ssh -p 2222 root@203.0.113.1 \"sed ") && own.contains("https://10.0.0.1:6443|"), "{own}");
        let balanced = of("ip: 10.0.0.1", "loadbalancer_apiserver: {address: 'fd00::1', port: 443}");
        assert!(balanced.contains("ssh cp1 ") && balanced.contains("https://[fd00::1]:443|"), "{balanced}");
    }

    #[test]
    fn what_a_shell_would_interpret_is_left_to_the_user() {
        let of = |host: &str| shown(&format!("kube_control_plane: {{hosts: {{cp1: {{{host}}}}}}}\n"), "");
        for host in ["ansible_host: '{{ address }}'", "ansible_host: '$(reboot)'", "ansible_host: -oProxyCommand=x"] {
            let shown = of(host);
            assert!(shown.contains("ssh FIRST_CONTROL_PLANE \"sudo"), "{shown}");
        }
        assert!(shown("all: {hosts: {a: }}\n", "").contains("https://FIRST_CONTROL_PLANE:6443"));
        let user = of("ansible_host: 192.0.2.1, ansible_user: '{{ name }}'");
        assert!(user.contains("ssh USER@192.0.2.1 "), "{user}");
        assert!(shown(HOSTS, "kube_apiserver_port: '{{ port }}'").contains("https://192.0.2.1:PORT|"));
    }
}
