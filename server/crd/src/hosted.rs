//! A hosted cluster: its control plane runs as pods in the Kubernetes cluster of the server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::DataRef;

/// A control plane that the server runs as pods. It needs a real Kubernetes; in standalone mode a condition says so. Only `replicas`,
/// `imageRepository`, `addons` and `paused` can be changed later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hosted {
    /// The namespace of the control plane. It must exist, and the ClusterRole `kubeonkube-hosted` must be bound to the server in it. It
    /// holds one hosted cluster, whose keys all users can read who may read its Secrets.
    #[schemars(length(max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub namespace: String,
    /// The version of Kubernetes, such as `v1.36.4`. It can't be changed yet.
    #[schemars(regex(pattern = r"^v1\.[0-9]{1,3}\.[0-9]{1,3}$"))]
    pub version: String,
    /// How many API servers run.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5))]
    pub replicas: i32,
    /// Where the state of the cluster is stored.
    #[serde(default)]
    pub etcd: HostedEtcd,
    /// The networks inside the cluster.
    pub networking: HostedNetworking,
    /// How machines and users reach the API server.
    #[serde(default)]
    pub endpoint: HostedEndpoint,
    /// Where the images of Kubernetes and etcd come from.
    #[serde(default = "upstream")]
    #[schemars(length(min = 1, max = 255))]
    pub image_repository: String,
    /// What the server installs inside the cluster.
    #[serde(default)]
    pub addons: HostedAddons,
    /// The control plane is left as it is until this is false again. Deletion is not paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// The etcd of a hosted cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedEtcd {
    /// How many members it has. Only 1 is supported yet.
    #[serde(default = "one")]
    pub members: i32,
    /// The size of the volume, such as `2Gi`. etcd may use 90 % of it.
    #[serde(default = "size")]
    #[schemars(regex(pattern = r"^[1-9][0-9]{0,6}(Mi|Gi)$"))]
    pub storage_size: String,
    /// The StorageClass of the volume. If absent, the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage_class: Option<String>,
    /// Keep the data in the pod instead of a volume: only for tests. When the pod is deleted, all data is lost, and the API server stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<bool>,
}

impl Default for HostedEtcd {
    fn default() -> Self {
        Self { members: one(), storage_size: size(), storage_class: None, ephemeral: None }
    }
}

/// The networks of a hosted cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedNetworking {
    /// The IPv4 addresses of Services.
    #[serde(default = "service_cidr")]
    #[schemars(length(max = 18))]
    pub service_cidr: String,
    /// The IPv4 addresses of pods. They must not overlap with those of other hosted clusters: routes to pods would mix.
    #[schemars(length(max = 18))]
    pub pod_cidr: String,
    /// The DNS domain of Services.
    #[serde(default = "dns_domain")]
    #[schemars(
        length(max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub dns_domain: String,
}

/// The address of a hosted cluster's API server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedEndpoint {
    /// The type of its Service.
    #[serde(default, rename = "type")]
    pub kind: EndpointType,
    /// For `NodePort`, the IPv4 address of a node, or a virtual one that leads to nodes. Otherwise the Service says the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 15))]
    pub host: Option<String>,
    /// For `NodePort`, its port. If absent, Kubernetes chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// Further DNS names and IP addresses for the API server's certificate.
    #[serde(default, rename = "certSANs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(min = 1, max = 253)))]
    pub cert_sans: Vec<String>,
}

/// What the server installs inside a hosted cluster. It runs on the machines that join.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedAddons {
    /// The DNS of Services.
    #[serde(default, rename = "coreDNS")]
    pub core_dns: HostedCoreDns,
    /// The addresses of Services.
    #[serde(default)]
    pub kube_proxy: HostedKubeProxy,
}

/// CoreDNS in a hosted cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedCoreDns {
    /// Whether it is installed. If this becomes false, the server deletes what it installed.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many pods it has.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 20))]
    pub replicas: i32,
}

impl Default for HostedCoreDns {
    fn default() -> Self {
        Self { enabled: true, replicas: two() }
    }
}

/// kube-proxy in a hosted cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedKubeProxy {
    /// Whether it is installed. If this becomes false, the server deletes what it installed.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many connections a machine tracks at most, per processor. 0 leaves the machine's own limit.
    #[serde(default = "connections")]
    #[schemars(range(min = 0))]
    pub conntrack_max_per_core: i32,
}

impl Default for HostedKubeProxy {
    fn default() -> Self {
        Self { enabled: true, conntrack_max_per_core: connections() }
    }
}

/// The type of the Service of a hosted API server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum EndpointType {
    /// Reachable inside the server's own Kubernetes only.
    #[default]
    #[serde(rename = "ClusterIP")]
    ClusterIp,
    /// A port on all nodes.
    NodePort,
    /// An address from outside, by the load balancer of the server's own Kubernetes.
    LoadBalancer,
}

/// The state of a hosted control plane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostedStatus {
    /// Accepted, AddressReady, CertificatesReady, EtcdReady, ApiServerReady, BootstrapReady, ControllersReady, AddonsApplied, in the
    /// order of the steps; and Ready, which is true when all of them are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The generation of spec that `conditions` describe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The version that all API servers run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The URL of the API server for machines and users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The Secret with the kubeconfig of administrators, under the key `admin.conf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_config: Option<DataRef>,
    /// The Secret with a kubeconfig that no rule of RBAC can stop, under the key `super-admin.conf`. It names `localhost:6443`, so it is
    /// used with `kubectl port-forward`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub super_admin_config: Option<DataRef>,
    /// When the first certificate expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificates_expire: Option<Time>,
}

fn one() -> i32 {
    1
}

fn yes() -> bool {
    true
}

fn two() -> i32 {
    2
}

/// The default of kube-proxy.
fn connections() -> i32 {
    32768
}

fn size() -> String {
    "2Gi".into()
}

fn upstream() -> String {
    "registry.k8s.io".into()
}

fn service_cidr() -> String {
    "10.96.0.0/16".into()
}

fn dns_domain() -> String {
    "cluster.local".into()
}
