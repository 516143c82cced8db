//! containerd, images, pod network, kubelet and kube-proxy, as units of every node.

use std::path::Path;

use serde_json::json;

use crate::build::contents::PAUSE;
use crate::cluster::control_plane::CONFIGURATION;
use crate::cluster::pki::Authority;
use crate::cluster::units::{Unit, api_server_is_ready};
use crate::error::Error;
use crate::{addresses, files};

/// The folder of the part `containerd`.
const CONTAINERD: &str = "/opt/lab/containerd";
const CONTAINERD_SOCKET: &str = "unix:///run/containerd/containerd.sock";

/// Writes keys and configuration into `configuration`, and units into the node's `etc`.
pub(crate) fn install(
    authority: &Authority,
    number: u8,
    kubernetes: &str,
    configuration: &Path,
    etc: &Path,
) -> Result<(), Error> {
    let name = format!("n{number}");
    let user = format!("system:node:{name}");
    let address = addresses::node(number).to_string();
    // kubelet also serves logs with this certificate. The API server connects to the IP address.
    authority
        .identity(&user, Some("system:nodes"), &[name.clone(), address.clone()])?
        .write(configuration, "kubelet")?;
    authority.kubeconfig(&user, Some("system:nodes"), &configuration.join("kubelet.kubeconfig"))?;
    authority.kubeconfig("system:kube-proxy", None, &configuration.join("kube-proxy.kubeconfig"))?;
    files::write(&configuration.join("kubelet.yaml"), 0o644, kubelet_configuration())?;
    files::write(&configuration.join("kube-proxy.yaml"), 0o644, kube_proxy_configuration())?;
    files::write(&etc.join("containerd/config.toml"), 0o644, containerd_configuration())?;
    files::write(&etc.join("cni/net.d/10-lab.conflist"), 0o644, pod_network(number))?;

    let ready = [api_server_is_ready()];
    let masquerade = [masquerade(), api_server_is_ready()];
    // For tests, which run it on nodes.
    files::link(format!("{CONTAINERD}/ctr"), &etc.join("../usr/local/bin/ctr"))?;
    // systemd replaces `$$` by `$`.
    let images = format!(
        "for image in /opt/lab/images/*.tar; do {CONTAINERD}/ctr --namespace k8s.io images import \"$$image\" || exit 1; done"
    );
    let units = [
        Unit {
            name: "containerd",
            after: "network.target",
            before: &[],
            command: vec![format!("{CONTAINERD}/containerd")],
            once: false,
        },
        Unit {
            name: "lab-images",
            after: "containerd.service",
            before: &[format!("until {CONTAINERD}/ctr version >/dev/null 2>&1; do sleep 0.1; done")],
            command: vec!["/bin/sh".into(), "-c".into(), format!("'{images}'")],
            once: true,
        },
        Unit {
            name: "kubelet",
            after: "containerd.service",
            before: &masquerade,
            command: vec![
                format!("{kubernetes}/kubelet"),
                format!("--config={CONFIGURATION}/kubelet.yaml"),
                format!("--kubeconfig={CONFIGURATION}/kubelet.kubeconfig"),
                format!("--node-ip={address}"),
                format!("--hostname-override={name}"),
            ],
            once: false,
        },
        Unit {
            name: "kube-proxy",
            after: "network.target",
            before: &ready,
            command: vec![
                format!("{kubernetes}/kube-proxy"),
                format!("--config={CONFIGURATION}/kube-proxy.yaml"),
                format!("--hostname-override={name}"),
            ],
            once: false,
        },
    ];
    units.iter().try_for_each(|unit| unit.install(etc))
}

/// A shell command that translates the addresses of pods: other machines see their node's address, and can answer.
fn masquerade() -> String {
    let rule = format!("POSTROUTING -s {0} ! -d {0} -j MASQUERADE", addresses::PODS);
    format!("iptables -w -t nat -C {rule} 2>/dev/null || iptables -w -t nat -A {rule}")
}

fn kubelet_configuration() -> String {
    let at = CONFIGURATION;
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": true}, "x509": {"clientCAFile": format!("{at}/ca.crt")}},
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": format!("{at}/kubelet.crt"),
        "tlsPrivateKeyFile": format!("{at}/kubelet.key"),
        "containerRuntimeEndpoint": CONTAINERD_SOCKET,
        "cgroupDriver": "cgroupfs",
        // The lab must run with both cgroup versions, and with or without swap.
        "failCgroupV1": false,
        "failSwapOn": false,
        "clusterDNS": [addresses::DNS],
        "clusterDomain": "cluster.local",
        // Images are imported at boot and can't be pulled again, so they must not be garbage-collected.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "nodeStatusUpdateFrequency": "5s",
    })
    .to_string()
}

fn kube_proxy_configuration() -> String {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": format!("{CONFIGURATION}/kube-proxy.kubeconfig")},
        "mode": "iptables",
        "clusterCIDR": addresses::PODS,
        // The size of the conntrack table can only be set in the computer's initial network namespace.
        "conntrack": {"maxPerCore": 0, "min": 0},
    })
    .to_string()
}

fn containerd_configuration() -> String {
    format!(
        r#"version = 3
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  # Machines have no CAP_SYS_RESOURCE, so an oom score can't be set below containerd's own.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    # Otherwise containerd takes the shim that Debian installed.
    runtime_path = "{CONTAINERD}/containerd-shim-runc-v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      BinaryName = "/opt/lab/runc/runc"
      SystemdCgroup = false
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
"#
    )
}

/// The CNI configuration: one bridge on each node. The supervisor sets the routes between nodes.
fn pod_network(number: u8) -> String {
    json!({"cniVersion": "0.4.0", "name": "lab", "plugins": [
        {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
         "ipam": {"type": "host-local", "ranges": [[{"subnet": addresses::pods_of_node(number)}]], "routes": [{"dst": "0.0.0.0/0"}]}},
        {"type": "portmap", "capabilities": {"portMappings": true}}]})
    .to_string()
}
