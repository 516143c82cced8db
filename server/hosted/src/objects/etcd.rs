//! etcd: one member, with TLS for its clients and peers.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service};
use kube::ResourceExt;
use serde_json::{Value, json};

use super::pods::{Container, Probes, template, workload};
use super::{ETCD, ETCD_CLIENT, ETCD_CONFIG, metadata, selector, typed};
use crate::certificates::secrets;
use crate::check::Plan;

/// Its port for metrics and probes, without TLS.
const METRICS: u16 = 2381;
/// Annotation of [`config`]: etcd has been ready once.
pub(crate) const INITIALIZED: &str = "kubeonkube.clay.io/initialized";
/// Label of the volume claim: the uid of its Cluster.
const UID: &str = "kubeonkube.clay.io/cluster-uid";
/// The only member.
const MEMBER: &str = "etcd-0";

/// Its settings. Before etcd was ready for the first time it may make an empty database. After that it may not: a member that
/// came back with an empty volume would serve empty data. It exits instead.
pub(crate) fn config(plan: &Plan, initialized: bool) -> ConfigMap {
    let url = |port: u16| format!("https://{MEMBER}.{ETCD}.{}.svc:{port}", plan.spec.namespace);
    let tls = |kind: &str| {
        json!({"cert-file": format!("/pki/etcd-{kind}.crt"), "key-file": format!("/pki/etcd-{kind}.key"),
            "client-cert-auth": true, "trusted-ca-file": "/pki/etcd-ca.crt"})
    };
    let mut peers = tls("peer");
    // A new member's address isn't in DNS yet, or the DNS cache has an older one. All peers have certificates of the cluster's own authority.
    peers["skip-client-san-verification"] = json!(true);
    let settings = json!({
        "name": MEMBER,
        "data-dir": "/var/lib/etcd/data",
        "listen-client-urls": "https://0.0.0.0:2379",
        "advertise-client-urls": url(2379),
        "listen-peer-urls": "https://0.0.0.0:2380",
        "initial-advertise-peer-urls": url(2380),
        "initial-cluster": format!("{MEMBER}={}", url(2380)),
        "initial-cluster-state": if initialized { "existing" } else { "new" },
        "initial-cluster-token": plan.uid,
        "client-transport-security": tls("server"),
        "peer-transport-security": peers,
        "listen-metrics-urls": format!("http://0.0.0.0:{METRICS}"),
        "snapshot-count": 10_000,
        "quota-backend-bytes": plan.quota,
        "auto-compaction-mode": "periodic",
        "auto-compaction-retention": "5m",
        "feature-gates": "InitialCorruptCheck=true",
    });
    let mut metadata = metadata(plan, ETCD_CONFIG);
    metadata["annotations"] = json!({INITIALIZED: initialized.to_string()});
    typed(json!({"metadata": metadata, "data": {format!("{MEMBER}.json"): format!("{settings:#}")}}))
}

/// The Service for its peers, which has a name for each pod; and the one for its clients.
pub(crate) fn services(plan: &Plan) -> [Service; 2] {
    let service = |name: &str, port: u16| {
        json!({"metadata": metadata(plan, name),
            "spec": {"selector": selector(plan, ETCD), "ports": [{"name": "https", "port": port, "targetPort": port}]}})
    };
    let mut peers = service(ETCD, 2380);
    peers["spec"]["clusterIP"] = json!("None");
    peers["spec"]["publishNotReadyAddresses"] = json!(true);
    [typed(peers), typed(service(ETCD_CLIENT, 2379))]
}

/// The name of the volume claim of the member.
pub(crate) fn claim() -> String {
    format!("data-{MEMBER}")
}

/// Whether a volume claim was made for the Cluster with this uid. A StatefulSet's claims have no owner.
pub(crate) fn is_claim_of(claim: &PersistentVolumeClaim, uid: &str) -> bool {
    claim.labels().get(UID).is_some_and(|label| label == uid)
}

/// The StatefulSet.
pub(crate) fn stateful_set(plan: &Plan, checksum: &str) -> StatefulSet {
    let mut template = template(
        plan,
        &Container {
            name: ETCD,
            image: &plan.images.etcd,
            command: vec!["etcd".into(), "--config-file=/config/$(NAME).json".into()],
            port: METRICS,
            cpu: "50m",
            memory: "64Mi",
            secrets: vec![(secrets::ETCD, "/pki")],
            checksum,
            probes: Probes { scheme: "HTTP", live: "/livez", ready: "/readyz" },
            grace_seconds: 10,
        },
    );
    let container = &mut template["spec"]["containers"][0];
    container["env"] = json!([{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]);
    push(&mut container["volumeMounts"], json!({"name": "config", "mountPath": "/config", "readOnly": true}));
    push(&mut container["volumeMounts"], json!({"name": "data", "mountPath": "/var/lib/etcd"}));
    let volumes = &mut template["spec"]["volumes"];
    push(volumes, json!({"name": "config", "configMap": {"name": ETCD_CONFIG}}));
    let etcd = &plan.spec.etcd;
    let is_ephemeral = etcd.ephemeral == Some(true);
    if is_ephemeral {
        push(volumes, json!({"name": "data", "emptyDir": {"sizeLimit": etcd.storage_size}}));
    }
    let mut object = workload(plan, ETCD, etcd.members, &template);
    object["spec"]["serviceName"] = json!(ETCD);
    object["spec"]["podManagementPolicy"] = json!("Parallel");
    if !is_ephemeral {
        let mut claim = json!({
            "metadata": {"name": "data", "labels": {crd::LABEL_MANAGED_BY: crd::PRODUCT, crd::LABEL_CLUSTER: plan.cluster, UID: plan.uid}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": etcd.storage_size}}}});
        if let Some(class) = &etcd.storage_class {
            claim["spec"]["storageClassName"] = json!(class);
        }
        object["spec"]["volumeClaimTemplates"] = json!([claim]);
    }
    typed(object)
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").push(item);
}
