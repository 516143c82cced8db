//! The API server.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;

use super::pods::{Container, Probes, template, workload};
use super::{API_SERVER, ETCD_CLIENT, typed};
use crate::address::PORT;
use crate::certificates::secrets;
use crate::check::Plan;

/// Seconds that a stopping API server still answers, until no node sends requests to it any more.
const STILL_ANSWERS: u16 = 5;

fn command(plan: &Plan) -> Vec<String> {
    let (namespace, networking) = (&plan.spec.namespace, &plan.spec.networking);
    let flags = [
        // The address of the Service `kubernetes` comes from this program: several API servers share one.
        ("endpoint-reconciler-type", "none"),
        ("advertise-address", "$(POD_IP)"),
        ("secure-port", &PORT.to_string()),
        ("allow-privileged", "true"),
        ("authorization-mode", "Node,RBAC"),
        ("client-ca-file", "/pki/ca.crt"),
        ("enable-admission-plugins", "NodeRestriction"),
        ("enable-bootstrap-token-auth", "true"),
        ("etcd-servers", &format!("https://{ETCD_CLIENT}.{namespace}.svc:2379")),
        ("etcd-cafile", "/pki/etcd-ca.crt"),
        ("etcd-certfile", "/pki/apiserver-etcd-client.crt"),
        ("etcd-keyfile", "/pki/apiserver-etcd-client.key"),
        ("kubelet-client-certificate", "/pki/apiserver-kubelet-client.crt"),
        ("kubelet-client-key", "/pki/apiserver-kubelet-client.key"),
        ("kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname"),
        ("proxy-client-cert-file", "/pki/front-proxy-client.crt"),
        ("proxy-client-key-file", "/pki/front-proxy-client.key"),
        ("requestheader-client-ca-file", "/pki/front-proxy-ca.crt"),
        ("requestheader-allowed-names", "front-proxy-client"),
        ("requestheader-username-headers", "X-Remote-User"),
        ("requestheader-group-headers", "X-Remote-Group"),
        ("requestheader-extra-headers-prefix", "X-Remote-Extra-"),
        ("service-account-issuer", &format!("https://kubernetes.default.svc.{}", networking.dns_domain)),
        ("service-account-key-file", "/pki/sa.pub"),
        ("service-account-signing-key-file", "/pki/sa.key"),
        ("service-cluster-ip-range", &networking.service_cidr),
        ("tls-cert-file", "/pki/apiserver.crt"),
        ("tls-private-key-file", "/pki/apiserver.key"),
    ];
    let flags = flags.iter().map(|(name, value)| format!("--{name}={value}"));
    std::iter::once("kube-apiserver".to_owned()).chain(flags).collect()
}

/// The Deployment.
pub(crate) fn deployment(plan: &Plan, checksum: &str) -> Deployment {
    let mut template = template(
        plan,
        &Container {
            name: API_SERVER,
            image: &plan.images.api_server,
            command: command(plan),
            port: PORT,
            cpu: "100m",
            memory: "256Mi",
            secrets: vec![(secrets::API_SERVER, "/pki")],
            checksum,
            // An API server whose etcd fails must not be restarted.
            probes: Probes { scheme: "HTTPS", live: "/livez?exclude=etcd", ready: "/readyz" },
            grace_seconds: 60,
        },
    );
    let container = &mut template["spec"]["containers"][0];
    container["env"] = json!([{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]);
    container["lifecycle"] = json!({"preStop": {"sleep": {"seconds": STILL_ANSWERS}}});
    // The program in upstream's image has this file capability, so it doesn't start without it. `restricted` allows it.
    container["securityContext"]["capabilities"]["add"] = json!(["NET_BIND_SERVICE"]);
    let mut object = workload(plan, API_SERVER, plan.spec.replicas, &template);
    object["spec"]["strategy"] =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}});
    typed(object)
}
