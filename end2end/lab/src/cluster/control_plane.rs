//! etcd, API server, controller manager and scheduler, as units of the first node.

use std::path::Path;

use rcgen::KeyPair;

use crate::cluster::pki::Authority;
use crate::cluster::programs::Programs;
use crate::cluster::units::{Unit, api_server_is_ready};
use crate::error::Error;
use crate::{addresses, files};

/// The folder of keys and configuration files on a node.
pub(crate) const CONFIGURATION: &str = "/etc/kubernetes";

/// Writes keys and configuration into `configuration`, and units into the node's `etc`.
pub(crate) fn install(
    authority: &Authority,
    programs: &Programs,
    configuration: &Path,
    etc: &Path,
) -> Result<(), Error> {
    keys(authority, configuration)?;
    let mut units = vec![etcd(programs), api_server(programs)];
    let ready = [api_server_is_ready()];
    if let Some(folder) = &programs.kubernetes {
        units.extend([controller_manager(folder, &ready), scheduler(folder, &ready)]);
    }
    units.iter().try_for_each(|unit| unit.install(etc))
}

fn keys(authority: &Authority, to: &Path) -> Result<(), Error> {
    files::write(&to.join("ca.key"), 0o600, &authority.key)?;
    let names =
        ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1"].map(str::to_owned);
    let addresses = [addresses::FIRST_SERVICE, addresses::node(1)].map(|address| address.to_string());
    authority.identity("kube-apiserver", None, &[names.as_slice(), &addresses].concat())?.write(to, "apiserver")?;
    authority.identity("kube-apiserver-kubelet-client", Some("system:masters"), &[])?.write(to, "kubelet-client")?;
    let service_accounts = KeyPair::generate()?;
    files::write(&to.join("service-accounts.key"), 0o600, service_accounts.serialize_pem())?;
    files::write(&to.join("service-accounts.pub"), 0o644, service_accounts.public_key_pem())?;
    for component in ["kube-controller-manager", "kube-scheduler"] {
        authority.kubeconfig(&format!("system:{component}"), None, &to.join(format!("{component}.kubeconfig")))?;
    }
    Ok(())
}

fn etcd(programs: &Programs) -> Unit<'static> {
    let command = [
        programs.etcd.as_str(),
        "--data-dir=/var/lib/etcd/data",
        "--listen-client-urls=http://127.0.0.1:2379",
        "--advertise-client-urls=http://127.0.0.1:2379",
        "--listen-peer-urls=http://127.0.0.1:2380",
        // No data in a lab has to survive a power cut of the computer.
        "--unsafe-no-fsync",
    ];
    Unit {
        name: "etcd",
        after: "network.target",
        before: &[],
        command: command.map(str::to_owned).to_vec(),
        once: false,
    }
}

fn api_server(programs: &Programs) -> Unit<'static> {
    let at = CONFIGURATION;
    let command = vec![
        programs.api_server.clone(),
        "--etcd-servers=http://127.0.0.1:2379".into(),
        format!("--advertise-address={}", addresses::node(1)),
        format!("--secure-port={}", addresses::API_PORT),
        format!("--service-cluster-ip-range={}", addresses::SERVICES),
        format!("--client-ca-file={at}/ca.crt"),
        format!("--tls-cert-file={at}/apiserver.crt"),
        format!("--tls-private-key-file={at}/apiserver.key"),
        format!("--kubelet-client-certificate={at}/kubelet-client.crt"),
        format!("--kubelet-client-key={at}/kubelet-client.key"),
        format!("--kubelet-certificate-authority={at}/ca.crt"),
        "--kubelet-preferred-address-types=InternalIP".into(),
        format!("--service-account-key-file={at}/service-accounts.pub"),
        format!("--service-account-signing-key-file={at}/service-accounts.key"),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--authorization-mode=Node,RBAC".into(),
        "--enable-admission-plugins=NodeRestriction".into(),
        "--allow-privileged=true".into(),
    ];
    Unit { name: "kube-apiserver", after: "etcd.service", before: &[], command, once: false }
}

fn controller_manager<'a>(folder: &str, ready: &'a [String]) -> Unit<'a> {
    let at = CONFIGURATION;
    let mut command = with_kubeconfig(folder, "kube-controller-manager");
    command.extend([
        format!("--client-ca-file={at}/ca.crt"),
        format!("--root-ca-file={at}/ca.crt"),
        format!("--cluster-signing-cert-file={at}/ca.crt"),
        format!("--cluster-signing-key-file={at}/ca.key"),
        format!("--service-account-private-key-file={at}/service-accounts.key"),
        "--use-service-account-credentials=true".into(),
        // Tests of lost nodes shouldn't wait for the default.
        "--node-monitor-grace-period=20s".into(),
    ]);
    Unit { name: "kube-controller-manager", after: "kube-apiserver.service", before: ready, command, once: false }
}

fn scheduler<'a>(folder: &str, ready: &'a [String]) -> Unit<'a> {
    let command = with_kubeconfig(folder, "kube-scheduler");
    Unit { name: "kube-scheduler", after: "kube-apiserver.service", before: ready, command, once: false }
}

fn with_kubeconfig(folder: &str, component: &str) -> Vec<String> {
    let kubeconfig = format!("{CONFIGURATION}/{component}.kubeconfig");
    vec![
        format!("{folder}/{component}"),
        format!("--kubeconfig={kubeconfig}"),
        format!("--authentication-kubeconfig={kubeconfig}"),
        format!("--authorization-kubeconfig={kubeconfig}"),
        "--bind-address=127.0.0.1".into(),
        // There is only one of each.
        "--leader-elect=false".into(),
    ]
}
