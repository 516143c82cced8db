//! The controller manager and the scheduler.

use k8s_openapi::api::apps::v1::Deployment;

use super::pods::{Container, Probes, template, workload};
use super::{CONTROLLER_MANAGER, SCHEDULER, typed};
use crate::certificates::secrets;
use crate::check::Plan;

/// The flags that both have. `conf` is the path of their kubeconfig.
fn common(conf: &str) -> [String; 5] {
    [
        format!("--kubeconfig={conf}"),
        format!("--authentication-kubeconfig={conf}"),
        format!("--authorization-kubeconfig={conf}"),
        // For the kubelet's probes.
        "--bind-address=0.0.0.0".into(),
        "--leader-elect=true".into(),
    ]
}

/// The Deployment of the controller manager. `checksum` is that of its Secrets.
pub(crate) fn manager(plan: &Plan, checksum: &str) -> Deployment {
    let networking = &plan.spec.networking;
    let mut command = vec!["kube-controller-manager".to_owned()];
    command.extend(common("/kubeconfig/controller-manager.conf"));
    command.extend([
        "--allocate-node-cidrs=true".into(),
        format!("--cluster-cidr={}", networking.pod_cidr),
        "--client-ca-file=/pki/ca.crt".into(),
        format!("--cluster-name={}", plan.cluster),
        "--cluster-signing-cert-file=/pki/ca.crt".into(),
        "--cluster-signing-key-file=/pki/ca.key".into(),
        "--controllers=*,bootstrapsigner,tokencleaner".into(),
        "--requestheader-client-ca-file=/pki/front-proxy-ca.crt".into(),
        "--root-ca-file=/pki/ca.crt".into(),
        "--service-account-private-key-file=/pki/sa.key".into(),
        format!("--service-cluster-ip-range={}", networking.service_cidr),
        "--use-service-account-credentials=true".into(),
    ]);
    let secrets = vec![(secrets::CONTROLLER_MANAGER, "/pki"), (secrets::CONTROLLER_MANAGER_CONFIG, "/kubeconfig")];
    controller(plan, CONTROLLER_MANAGER, &plan.images.controller_manager, command, 10257, secrets, checksum)
}

/// The Deployment of the scheduler.
pub(crate) fn scheduler(plan: &Plan, checksum: &str) -> Deployment {
    let mut command = vec!["kube-scheduler".to_owned()];
    command.extend(common("/kubeconfig/scheduler.conf"));
    let secrets = vec![(secrets::SCHEDULER_CONFIG, "/kubeconfig")];
    controller(plan, SCHEDULER, &plan.images.scheduler, command, 10259, secrets, checksum)
}

fn controller(
    plan: &Plan,
    name: &str,
    image: &str,
    command: Vec<String>,
    port: u16,
    secrets: Vec<(&str, &str)>,
    checksum: &str,
) -> Deployment {
    let probes = Probes { scheme: "HTTPS", live: "/healthz", ready: "/healthz" };
    let container = Container {
        name,
        image,
        command,
        port,
        cpu: "50m",
        memory: "64Mi",
        secrets,
        checksum,
        probes,
        grace_seconds: 10,
    };
    typed(workload(plan, name, 1, &template(plan, &container)))
}
