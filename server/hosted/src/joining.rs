//! The objects in a new cluster that a stock `kubeadm join` of a worker reads, and the rights that it and the API server need. Names and
//! contents are those of kubeadm 1.36 (`kubeadm init`, phases `upload-config`, `bootstrap-token` and `kubelet-finalize`).

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::address::Address;
use crate::check::Plan;

/// The group of machines that join with a token of kubeadm.
const NEW: &str = "system:bootstrappers:kubeadm:default-node-token";
const NODES: &str = "system:nodes";
const SYSTEM: &str = "kube-system";
/// The namespace that everybody can read, also without a login.
const PUBLIC: &str = "kube-public";
const RBAC: &str = "rbac.authorization.k8s.io";

/// The objects, by kind.
#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) roles_of_all: Vec<ClusterRole>,
    pub(crate) rights_of_all: Vec<ClusterRoleBinding>,
    pub(crate) roles: Vec<Role>,
    pub(crate) rights: Vec<RoleBinding>,
    pub(crate) settings: Vec<ConfigMap>,
}

/// `authority` is the certificate of the cluster's authority, in base64 of its PEM.
pub(crate) fn objects(plan: &Plan, address: &Address, authority: &str) -> Objects {
    let get_nodes = json!({
        "metadata": {"name": "kubeadm:get-nodes"}, "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}],
    });
    let read_nodes = json!({
        "metadata": {"name": "kubeonkube:read-nodes"},
        "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}],
    });
    let (new, nodes) = (group(NEW), group(NODES));
    let (new_and_nodes, anyone) = ([new.clone(), nodes.clone()], [user("system:anonymous")]);
    let approves = |kind: &str| format!("system:certificates.k8s.io:certificatesigningrequests:{kind}");
    Objects {
        roles_of_all: vec![typed(get_nodes), typed(read_nodes)],
        rights_of_all: vec![
            for_all("kubeadm:get-nodes", "kubeadm:get-nodes", &new),
            for_all("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", &new),
            for_all("kubeadm:node-autoapprove-bootstrap", &approves("nodeclient"), &new),
            for_all("kubeadm:node-autoapprove-certificate-rotation", &approves("selfnodeclient"), &nodes),
            // The machines' own routes to the pods of others (deploy/runner/playbooks/roles/network_bridge).
            for_all("kubeonkube:read-nodes", "kubeonkube:read-nodes", &nodes),
            for_all("kubeadm:cluster-admins", "cluster-admin", &group("kubeadm:cluster-admins")),
            // Logs and exec of pods. A kubelet remembers a refusal for a while, so this is there before the first machine.
            for_all(
                "kubeadm:apiserver-kubelet-client",
                "system:kubelet-api-admin",
                &user("kube-apiserver-kubelet-client"),
            ),
        ],
        roles: vec![
            reads("kubeadm:bootstrap-signer-clusterinfo", PUBLIC, "cluster-info"),
            reads("kubeadm:nodes-kubeadm-config", SYSTEM, "kubeadm-config"),
            reads("kubeadm:kubelet-config", SYSTEM, "kubelet-config"),
        ],
        rights: vec![
            may("kubeadm:bootstrap-signer-clusterinfo", PUBLIC, &anyone),
            may("kubeadm:nodes-kubeadm-config", SYSTEM, &new_and_nodes),
            may("kubeadm:kubelet-config", SYSTEM, &new_and_nodes),
        ],
        settings: vec![
            config_map("cluster-info", PUBLIC, "kubeconfig", &cluster_info(address, authority)),
            config_map("kubeadm-config", SYSTEM, "ClusterConfiguration", &cluster_configuration(plan, address)),
            config_map("kubelet-config", SYSTEM, "kubelet", &kubelet(plan)),
        ],
    }
}

/// A kubeconfig without a user. The controller manager signs it with each token, so that a machine can trust it.
fn cluster_info(address: &Address, authority: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "", "cluster": {"server": address.url(), "certificate-authority-data": authority}}],
    })
}

fn cluster_configuration(plan: &Plan, address: &Address) -> Value {
    let networking = &plan.spec.networking;
    json!({
        "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration",
        "clusterName": plan.cluster,
        "kubernetesVersion": plan.spec.version,
        "controlPlaneEndpoint": format!("{}:{}", address.public, address.port),
        "imageRepository": plan.spec.image_repository,
        "networking": {
            "podSubnet": networking.pod_cidr, "serviceSubnet": networking.service_cidr, "dnsDomain": networking.dns_domain,
        },
    })
}

/// What kubeadm sets itself. The kubelet has defaults for everything else.
fn kubelet(plan: &Plan) -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": false}, "webhook": {"enabled": true}, "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd",
        "clusterDNS": [plan.services.dns().to_string()],
        "clusterDomain": plan.spec.networking.dns_domain,
        "rotateCertificates": true,
        "staticPodPath": "/etc/kubernetes/manifests",
    })
}

fn group(name: &str) -> Value {
    json!({"apiGroup": RBAC, "kind": "Group", "name": name})
}

fn user(name: &str) -> Value {
    json!({"apiGroup": RBAC, "kind": "User", "name": name})
}

/// Everywhere, the rights of a ClusterRole.
fn for_all(name: &str, role: &str, who: &Value) -> ClusterRoleBinding {
    typed(json!({
        "metadata": {"name": name}, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}, "subjects": [who],
    }))
}

/// The right to read one ConfigMap.
fn reads(name: &str, namespace: &str, config_map: &str) -> Role {
    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [config_map], "verbs": ["get"]});
    typed(json!({"metadata": {"name": name, "namespace": namespace}, "rules": [rule]}))
}

/// The rights of the Role with the same name.
fn may(name: &str, namespace: &str, who: &[Value]) -> RoleBinding {
    typed(json!({
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name}, "subjects": who,
    }))
}

/// JSON is YAML, too.
fn config_map(name: &str, namespace: &str, key: &str, content: &Value) -> ConfigMap {
    typed(json!({"metadata": {"name": name, "namespace": namespace}, "data": {key: content.to_string()}}))
}

fn typed<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("the object has the fields of its type")
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::objects::tests::plan;

    const ADDRESS: Address =
        Address { cluster_ip: Ipv4Addr::new(10, 0, 0, 7), public: Ipv4Addr::new(192, 0, 2, 10), port: 30443 };

    #[test]
    fn a_machine_finds_address_networks_and_settings() {
        let plan = plan(|_| {});
        let objects = objects(&plan, &ADDRESS, "QQ==");
        let setting = |name: &str, key: &str| -> Value {
            let found = objects.settings.iter().find(|map| map.metadata.name.as_deref() == Some(name)).unwrap();
            serde_json::from_str(&found.data.as_ref().unwrap()[key]).unwrap()
        };
        let info = setting("cluster-info", "kubeconfig");
        assert_eq!(info["clusters"][0]["cluster"]["server"], ADDRESS.url());
        assert_eq!(info["clusters"][0]["cluster"]["certificate-authority-data"], "QQ==");
        let cluster = setting("kubeadm-config", "ClusterConfiguration");
        assert_eq!(cluster["kubernetesVersion"], plan.spec.version);
        assert_eq!(cluster["networking"]["podSubnet"], plan.spec.networking.pod_cidr);
        let kubelet = setting("kubelet-config", "kubelet");
        // kubeadm gives DNS the tenth address of the network of Services.
        assert_eq!(kubelet["clusterDNS"], json!(["10.96.0.10"]));
    }

    #[test]
    fn without_a_login_only_the_address_can_be_read() {
        let objects = objects(&plan(|_| {}), &ADDRESS, "QQ==");
        let anyone = |subjects: &Option<Vec<k8s_openapi::api::rbac::v1::Subject>>| {
            subjects.iter().flatten().any(|subject| subject.name == "system:anonymous")
        };
        assert!(!objects.rights_of_all.iter().any(|binding| anyone(&binding.subjects)));
        let open: Vec<_> = objects.rights.iter().filter(|binding| anyone(&binding.subjects)).collect();
        assert_eq!(open.len(), 1);
        let role = objects.roles.iter().find(|role| role.metadata.name.as_deref() == Some(&open[0].role_ref.name));
        let rules = role.unwrap().rules.as_ref().unwrap();
        assert_eq!(rules[0].resource_names.as_deref(), Some(["cluster-info".to_owned()].as_slice()));
        assert_eq!(rules[0].verbs, ["get"]);
    }
}
