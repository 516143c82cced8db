//! Which Secret holds which files. Each is made once: when it doesn't exist, or when addresses have changed.

use k8s_openapi::ByteString;

use super::authority::{Authorities, Authority, Data};
use super::kubeconfig;
use super::leaf::Leaf;
use crate::address::Address;
use crate::check::Plan;

/// The Secret with the authorities. All others can be made again from it.
pub(crate) const AUTHORITIES: &str = "cluster-pki";
pub(crate) const ETCD: &str = "etcd-pki";
pub(crate) const API_SERVER: &str = "apiserver-pki";
pub(crate) const CONTROLLER_MANAGER: &str = "controller-manager-pki";
pub(crate) const CONTROLLER_MANAGER_CONFIG: &str = "controller-manager-config";
pub(crate) const SCHEDULER_CONFIG: &str = "scheduler-config";
/// The Secrets with kubeconfigs for people, and their keys.
pub(crate) const ADMIN_CONFIG: &str = "admin-config";
pub(crate) const SUPER_ADMIN_CONFIG: &str = "super-admin-config";
/// The Secret with the kubeconfig of this program, and its key.
pub(crate) const OWN_CONFIG: &str = "kubeonkube-config";
pub(crate) const KEY_OWN: &str = "kubeonkube.conf";

/// All of them.
pub(crate) const ALL: [&str; 9] = [
    AUTHORITIES,
    ETCD,
    API_SERVER,
    CONTROLLER_MANAGER,
    CONTROLLER_MANAGER_CONFIG,
    SCHEDULER_CONFIG,
    ADMIN_CONFIG,
    SUPER_ADMIN_CONFIG,
    OWN_CONFIG,
];

/// The content of a Secret, before it is made.
pub(crate) struct Bundle {
    pub(crate) secret: &'static str,
    /// Names and addresses in it. The Secret is made again if they change.
    pub(crate) made_for: String,
    files: Vec<File>,
}

enum File {
    /// A file of the authorities' Secret.
    Copy(&'static str),
    /// Certificate and key.
    Pair(&'static str, Leaf),
    Kubeconfig {
        file: &'static str,
        user: Leaf,
        url: String,
        cluster: String,
    },
}

/// Everything that is signed.
pub(crate) fn bundles(plan: &Plan, address: &Address) -> Vec<Bundle> {
    let bundle = |secret, files: Vec<File>| {
        let made_for = files.iter().flat_map(File::names).collect::<Vec<_>>().join(",");
        Bundle { secret, made_for, files }
    };
    let of_cluster = |name: &str, organization| Leaf::client(Authority::Cluster, name, organization);
    let kubeconfig = |secret, file, user, url: String| {
        bundle(secret, vec![File::Kubeconfig { file, user, url, cluster: plan.cluster.clone() }])
    };
    let inside = format!("https://apiserver.{}.svc:{}", plan.spec.namespace, crate::address::PORT);
    let etcd_client = |name| Leaf::client(Authority::Etcd, name, None);
    let members: Vec<String> = (0..3).map(|n| format!("etcd-{n}.etcd.{}.svc", plan.spec.namespace)).collect();
    let mut etcd = members.clone();
    etcd.extend(forms("etcd-client", &plan.spec.namespace));
    etcd.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    vec![
        bundle(
            ETCD,
            vec![
                File::Copy("etcd-ca.crt"),
                File::Pair("etcd-server", Leaf::server(Authority::Etcd, "etcd", true, etcd)),
                File::Pair("etcd-peer", Leaf::server(Authority::Etcd, "etcd", true, members)),
            ],
        ),
        bundle(
            API_SERVER,
            vec![
                File::Copy("ca.crt"),
                File::Copy("front-proxy-ca.crt"),
                File::Copy("etcd-ca.crt"),
                File::Copy("sa.key"),
                File::Copy("sa.pub"),
                File::Pair(
                    "apiserver",
                    Leaf::server(Authority::Cluster, "kube-apiserver", false, names(plan, address)),
                ),
                File::Pair("apiserver-kubelet-client", of_cluster("kube-apiserver-kubelet-client", None)),
                File::Pair("front-proxy-client", Leaf::client(Authority::FrontProxy, "front-proxy-client", None)),
                File::Pair("apiserver-etcd-client", etcd_client("kube-apiserver-etcd-client")),
            ],
        ),
        bundle(CONTROLLER_MANAGER, ["ca.crt", "ca.key", "front-proxy-ca.crt", "sa.key"].map(File::Copy).into()),
        kubeconfig(
            CONTROLLER_MANAGER_CONFIG,
            "controller-manager.conf",
            of_cluster("system:kube-controller-manager", None),
            inside.clone(),
        ),
        kubeconfig(SCHEDULER_CONFIG, "scheduler.conf", of_cluster("system:kube-scheduler", None), inside.clone()),
        kubeconfig(
            ADMIN_CONFIG,
            "admin.conf",
            of_cluster("kubernetes-admin", Some("kubeadm:cluster-admins")),
            address.url(),
        ),
        kubeconfig(
            SUPER_ADMIN_CONFIG,
            "super-admin.conf",
            of_cluster("kubernetes-super-admin", Some("system:masters")),
            format!("https://localhost:{}", crate::address::PORT),
        ),
        kubeconfig(OWN_CONFIG, KEY_OWN, of_cluster("kubeonkube-controller", Some("system:masters")), inside),
    ]
}

impl File {
    fn names(&self) -> Vec<String> {
        match self {
            Self::Copy(_) => Vec::new(),
            Self::Pair(_, leaf) => leaf.names.clone(),
            Self::Kubeconfig { url, .. } => vec![url.clone()],
        }
    }
}

impl Bundle {
    /// Makes the content. The error is a sentence.
    pub(crate) fn make(&self, authorities: &Authorities, now: i64) -> Result<Data, String> {
        let mut data = Data::new();
        let mut put = |name: String, text: String| data.insert(name, ByteString(text.into_bytes()));
        for file in &self.files {
            match file {
                File::Copy(name) => {
                    put((*name).to_owned(), authorities.text(name)?);
                }
                File::Pair(name, leaf) => {
                    let (certificate, key) = leaf.make(authorities, now)?;
                    put(format!("{name}.crt"), certificate);
                    put(format!("{name}.key"), key);
                }
                File::Kubeconfig { file, user, url, cluster } => {
                    let (pair, authority) = (user.make(authorities, now)?, authorities.text("ca.crt")?);
                    put((*file).to_owned(), kubeconfig::text(cluster, url, &authority, &user.common_name, &pair));
                }
            }
        }
        Ok(data)
    }

    /// Whether a Secret has all files.
    pub(crate) fn is_complete(&self, data: &Data) -> bool {
        let has = |name: &str| data.get(name).is_some_and(|bytes| !bytes.0.is_empty());
        self.files.iter().all(|file| match file {
            File::Copy(name) => has(name),
            File::Pair(name, _) => has(&format!("{name}.crt")) && has(&format!("{name}.key")),
            File::Kubeconfig { file, .. } => has(file),
        })
    }
}

/// The names in the certificate of the API server.
fn names(plan: &Plan, address: &Address) -> Vec<String> {
    let domain = &plan.spec.networking.dns_domain;
    let mut names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned).to_vec();
    names.push(format!("kubernetes.default.svc.{domain}"));
    names.extend(forms("apiserver", &plan.spec.namespace));
    names.extend(["localhost".to_owned(), "127.0.0.1".to_owned(), plan.services.first_service().to_string()]);
    names.extend([address.cluster_ip.to_string(), address.public.to_string()]);
    names.extend(plan.spec.endpoint.cert_sans.iter().cloned());
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The names by which pods reach a Service. The domain is that of most Kubernetes clusters; our own pods don't need it.
fn forms(service: &str, namespace: &str) -> [String; 4] {
    [
        service.to_owned(),
        format!("{service}.{namespace}"),
        format!("{service}.{namespace}.svc"),
        format!("{service}.{namespace}.svc.cluster.local"),
    ]
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
