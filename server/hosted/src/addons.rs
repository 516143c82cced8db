//! The add-ons of a hosted cluster: CoreDNS and kube-proxy, as kubeadm 1.36 installs them. They are objects in the new cluster, and their
//! pods run on the machines that join.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Resource;
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::address::Address;
use crate::check::Plan;

/// The namespace of the add-ons.
const SYSTEM: &str = "kube-system";
const DNS: &str = "coredns";
const PROXY: &str = "kube-proxy";
/// Where kube-proxy reads its settings.
const PROXY_FOLDER: &str = "/var/lib/kube-proxy";

/// An add-on.
#[derive(Debug)]
pub(crate) struct Addon {
    pub(crate) name: &'static str,
    pub(crate) enabled: bool,
    /// In the order in which they are created.
    pub(crate) objects: Vec<Object>,
}

/// An object in the hosted cluster.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: ApiResource,
    pub(crate) body: DynamicObject,
}

/// All add-ons, also those that are switched off.
pub(crate) fn all(plan: &Plan, address: &Address) -> [Addon; 2] {
    let wanted = &plan.spec.addons;
    [
        Addon { name: "CoreDNS", enabled: wanted.core_dns.enabled, objects: core_dns(plan) },
        Addon { name: "kube-proxy", enabled: wanted.kube_proxy.enabled, objects: kube_proxy(plan, address) },
    ]
}

fn core_dns(plan: &Plan) -> Vec<Object> {
    let domain = &plan.spec.networking.dns_domain;
    let labels = json!({"k8s-app": "kube-dns"});
    let read = ["list", "watch"];
    let rules = json!([
        {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": read},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
    ]);
    let corefile = format!(
        ".:53 {{\n  errors\n  health {{\n    lameduck 5s\n  }}\n  ready\n  kubernetes {domain} in-addr.arpa ip6.arpa {{\n    pods insecure\n    \
         fallthrough in-addr.arpa ip6.arpa\n    ttl 30\n  }}\n  prometheus :9153\n  forward . /etc/resolv.conf {{\n    max_concurrent 1000\n  }}\n  \
         cache 30\n  loop\n  reload\n  loadbalance\n}}\n"
    );
    let probe = |path: &str, port: u16| json!({"httpGet": {"path": path, "port": port}, "timeoutSeconds": 5, "failureThreshold": 5});
    let port =
        |name: &str, number: u16, protocol: &str| json!({"name": name, "containerPort": number, "protocol": protocol});
    let pod = json!({
        "serviceAccountName": DNS,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        // The node's own DNS, not itself.
        "dnsPolicy": "Default",
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}},
        }]}},
        "containers": [{
            "name": DNS,
            "image": plan.images.core_dns,
            "imagePullPolicy": "IfNotPresent",
            "args": ["-conf", "/etc/coredns/Corefile"],
            "ports": [port("dns", 53, "UDP"), port("dns-tcp", 53, "TCP"), port("metrics", 9153, "TCP")],
            "resources": {"requests": {"cpu": "100m", "memory": "70Mi"}, "limits": {"memory": "170Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns", "readOnly": true}],
            "livenessProbe": probe("/health", 8080),
            "readinessProbe": probe("/ready", 8181),
        }],
        "volumes": [{"name": "config", "configMap": {"name": DNS}}],
    });
    let service_port =
        |name: &str, number: u16, protocol: &str| json!({"name": name, "port": number, "protocol": protocol});
    vec![
        own::<ServiceAccount>(DNS, json!({})),
        everywhere::<ClusterRole>("system:coredns", json!({"rules": rules})),
        everywhere::<ClusterRoleBinding>("system:coredns", binding("system:coredns", DNS)),
        own::<ConfigMap>(DNS, json!({"data": {"Corefile": corefile}})),
        own::<Deployment>(
            DNS,
            json!({"spec": {
                "replicas": plan.spec.addons.core_dns.replicas,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
                "selector": {"matchLabels": labels},
                "template": template(&labels, &corefile, &pod),
            }}),
        ),
        // Its name and address are those that kubelets give to pods.
        own::<Service>(
            "kube-dns",
            json!({"spec": {
                "clusterIP": plan.services.dns().to_string(),
                "selector": labels,
                "ports": [service_port("dns", 53, "UDP"), service_port("dns-tcp", 53, "TCP"), service_port("metrics", 9153, "TCP")],
            }}),
        ),
    ]
}

fn kube_proxy(plan: &Plan, address: &Address) -> Vec<Object> {
    let labels = json!({"k8s-app": PROXY});
    let kubeconfig = format!("{PROXY_FOLDER}/kubeconfig.conf");
    let settings = json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
        "bindAddress": "0.0.0.0",
        "clientConnection": {"kubeconfig": kubeconfig},
        "clusterCIDR": plan.spec.networking.pod_cidr,
        "mode": "iptables",
        "conntrack": {"maxPerCore": plan.spec.addons.kube_proxy.conntrack_max_per_core},
    })
    .to_string();
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    // Services don't work before kube-proxy does, so it needs the address from outside.
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "default",
        "clusters": [{"name": "default", "cluster": {"server": address.url(), "certificate-authority": format!("{account}/ca.crt")}}],
        "users": [{"name": "default", "user": {"tokenFile": format!("{account}/token")}}],
        "contexts": [{"name": "default", "context": {"cluster": "default", "user": "default", "namespace": "default"}}],
    })
    .to_string();
    let pod = json!({
        "serviceAccountName": PROXY,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "hostNetwork": true,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{
            "name": PROXY,
            "image": plan.images.kube_proxy,
            "imagePullPolicy": "IfNotPresent",
            "command": [
                "/usr/local/bin/kube-proxy", format!("--config={PROXY_FOLDER}/config.conf"), "--hostname-override=$(NODE_NAME)"],
            "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            // It changes the packet filter of the machine.
            "securityContext": {"privileged": true},
            "volumeMounts": [
                {"name": "config", "mountPath": PROXY_FOLDER},
                {"name": "xtables-lock", "mountPath": "/run/xtables.lock"},
                {"name": "modules", "mountPath": "/lib/modules", "readOnly": true},
            ],
        }],
        "volumes": [
            {"name": "config", "configMap": {"name": PROXY}},
            {"name": "xtables-lock", "hostPath": {"path": "/run/xtables.lock", "type": "FileOrCreate"}},
            {"name": "modules", "hostPath": {"path": "/lib/modules"}},
        ],
    });
    let checked = format!("{settings}{config}");
    vec![
        own::<ServiceAccount>(PROXY, json!({})),
        everywhere::<ClusterRoleBinding>("kubeadm:node-proxier", binding("system:node-proxier", PROXY)),
        own::<ConfigMap>(PROXY, json!({"data": {"config.conf": settings, "kubeconfig.conf": config}})),
        own::<DaemonSet>(
            PROXY,
            json!({"spec": {
                "selector": {"matchLabels": labels},
                "template": template(&labels, &checked, &pod),
            }}),
        ),
    ]
}

/// Gives the account of an add-on the rights of a ClusterRole.
fn binding(role: &str, account: &str) -> Value {
    json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}],
    })
}

/// A pod template. If `settings` changes, the pods restart.
fn template(labels: &Value, settings: &str, pod: &Value) -> Value {
    let checksum: String = Sha256::digest(settings).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    json!({"metadata": {"labels": labels, "annotations": {"kubeonkube.clay.io/checksum": checksum}}, "spec": pod})
}

/// An object in the add-ons' namespace.
fn own<K: Resource<DynamicType = ()>>(name: &str, body: Value) -> Object {
    object::<K>(&json!({"name": name, "namespace": SYSTEM}), body)
}

/// An object without a namespace.
fn everywhere<K: Resource<DynamicType = ()>>(name: &str, body: Value) -> Object {
    object::<K>(&json!({"name": name}), body)
}

fn object<K: Resource<DynamicType = ()>>(metadata: &Value, mut body: Value) -> Object {
    let kind = ApiResource::erase::<K>(&());
    body["apiVersion"] = json!(kind.api_version);
    body["kind"] = json!(kind.kind);
    body["metadata"] = metadata.clone();
    body["metadata"]["labels"] = json!({crd::LABEL_MANAGED_BY: crd::PRODUCT});
    Object { kind, body: serde_json::from_value(body).expect("an object with metadata") }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use k8s_openapi::DeepMerge;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::objects::tests::plan;

    const ADDRESS: Address =
        Address { cluster_ip: Ipv4Addr::new(10, 0, 0, 7), public: Ipv4Addr::new(192, 0, 2, 10), port: 30443 };

    fn found<'a>(addons: &'a [Addon], kind: &str, name: &str) -> &'a DynamicObject {
        let mut objects = addons.iter().flat_map(|addon| &addon.objects);
        let is = |object: &&Object| object.kind.kind == kind && object.body.metadata.name.as_deref() == Some(name);
        &objects.find(is).unwrap_or_else(|| panic!("{kind} {name}")).body
    }

    /// Fails if the type lacks a field: it would be dropped.
    fn typed<K: DeserializeOwned + Serialize + DeepMerge>(object: &DynamicObject) -> K {
        let json = serde_json::to_value(object).unwrap();
        let typed: K = serde_json::from_value(json.clone()).unwrap();
        assert!(crate::api::contains(&serde_json::to_value(&typed).unwrap(), &json), "{json}");
        typed
    }

    #[test]
    fn every_field_of_an_add_on_is_one_of_its_type() {
        let addons = all(&plan(|_| {}), &ADDRESS);
        for name in [DNS, PROXY] {
            typed::<ServiceAccount>(found(&addons, "ServiceAccount", name));
            typed::<ConfigMap>(found(&addons, "ConfigMap", name));
        }
        typed::<Deployment>(found(&addons, "Deployment", DNS));
        typed::<DaemonSet>(found(&addons, "DaemonSet", PROXY));
        typed::<Service>(found(&addons, "Service", "kube-dns"));
        typed::<ClusterRole>(found(&addons, "ClusterRole", "system:coredns"));
        typed::<ClusterRoleBinding>(found(&addons, "ClusterRoleBinding", "system:coredns"));
        typed::<ClusterRoleBinding>(found(&addons, "ClusterRoleBinding", "kubeadm:node-proxier"));
    }

    #[test]
    fn add_ons_have_the_networks_of_the_cluster() {
        let addons = all(
            &plan(|hosted| {
                hosted.networking.dns_domain = "shop.test".into();
                hosted.addons.core_dns.replicas = 1;
                hosted.addons.kube_proxy.conntrack_max_per_core = 0;
            }),
            &ADDRESS,
        );
        let text = |kind, name| serde_json::to_string(found(&addons, kind, name)).unwrap();
        assert!(text("ConfigMap", DNS).contains("kubernetes shop.test in-addr.arpa"));
        assert!(text("Service", "kube-dns").contains(r#""clusterIP":"10.96.0.10""#));
        assert!(text("Deployment", DNS).contains(r#""replicas":1"#));
        let proxy = text("ConfigMap", PROXY);
        assert!(proxy.contains("https://192.0.2.10:30443") && proxy.contains(r#"maxPerCore\":0"#), "{proxy}");
    }

    #[test]
    fn pods_restart_when_their_settings_change() {
        let checksum = |most: i32| {
            let addons = all(&plan(|hosted| hosted.addons.kube_proxy.conntrack_max_per_core = most), &ADDRESS);
            let set = serde_json::to_value(found(&addons, "DaemonSet", PROXY)).unwrap();
            set["spec"]["template"]["metadata"]["annotations"].clone()
        };
        assert_eq!(checksum(0), checksum(0));
        assert_ne!(checksum(0), checksum(1));
    }
}
