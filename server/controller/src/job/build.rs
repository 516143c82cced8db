//! Building the snapshot and the Job. Pure: the same plan gives the same objects, except for the token.

use std::collections::BTreeMap;

use crd::{Cluster, ClusterOperation, PRODUCT};
use k8s_openapi::ByteString;
use k8s_openapi::api::batch::v1::{
    Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, EmptyDirVolumeSource, EnvVar, KeyToPath, PodSecurityContext, PodSpec, PodTemplateSpec,
    ResourceRequirements, SeccompProfile, Secret, SecretVolumeSource, SecurityContext, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use operation::deadline;

use crate::inputs::plan::Plan;
use crate::ownership::owner;

/// Files that every run gets, whatever its image.
const ENTRYPOINT: &str = include_str!("../../../../deploy/runner/entrypoint.py");
const CALLBACK: &str = include_str!("../../../../deploy/runner/callback/kubeonkube_events.py");
const MASKING: &str = include_str!("../../../../deploy/runner/kubeonkube_masking.py");
const SECRET_RESULT: &str = include_str!("../../../../deploy/runner/kubeonkube_secret_result.py");
const MASKING_RULE: &str = include_str!("../../../../deploy/runner/masking.json");

/// The user and group of a run: `nobody`, which nearly every image has. ssh refuses to work for a user without an entry in
/// `/etc/passwd`. See docs/adr/0017-in-a-cluster.md.
const NOBODY: i64 = 65534;

fn json_list(texts: &[String]) -> Vec<u8> {
    serde_json::to_vec(texts).expect("a list of texts")
}

/// The snapshot: everything that the run reads, as it was when the operation took its turn. `result_key` encrypts the secret result, if
/// the run has one.
pub(crate) fn snapshot(operation: &ClusterOperation, plan: &Plan, token: &str, result_key: Option<Vec<u8>>) -> Secret {
    let name = operation.metadata.name.as_deref().unwrap_or_default();
    let steps = serde_json::json!({"operation": name, "cluster": operation.spec.cluster, "steps": plan.steps});
    let mut data = BTreeMap::from([
        (crd::KEY_HOSTS.to_owned(), plan.hosts_yml.clone().into_bytes()),
        (crd::KEY_VARS.to_owned(), plan.vars_yml.clone().into_bytes()),
        ("steps.json".to_owned(), steps.to_string().into_bytes()),
        (crd::KEY_TOKEN.to_owned(), token.as_bytes().to_vec()),
        ("entrypoint.py".to_owned(), ENTRYPOINT.as_bytes().to_vec()),
        ("kubeonkube_events.py".to_owned(), CALLBACK.as_bytes().to_vec()),
        ("kubeonkube_masking.py".to_owned(), MASKING.as_bytes().to_vec()),
        ("masking.json".to_owned(), MASKING_RULE.as_bytes().to_vec()),
        (crd::KEY_SECRETS.to_owned(), json_list(&plan.secrets)),
        (crd::KEY_READABLE_NAMES.to_owned(), json_list(&plan.names)),
    ]);
    data.extend(plan.known_hosts.iter().map(|text| (crd::KEY_KNOWN_HOSTS.to_owned(), text.clone().into_bytes())));
    if let Some(variables) = &plan.secret_vars {
        let text = serde_json::to_vec(variables).expect("a map of texts");
        data.insert(crd::KEY_SECRET_VARS.to_owned(), text);
    }
    if let Some(key) = result_key {
        data.insert("kubeonkube_secret_result.py".to_owned(), SECRET_RESULT.as_bytes().to_vec());
        data.insert(crd::KEY_SECRET_RESULT.to_owned(), key);
    }
    for (n, files) in plan.sources.iter().enumerate() {
        data.extend(files.iter().map(|(key, bytes)| (format!("source.{}.{key}", n + 1), bytes.clone())));
    }
    data.extend(
        plan.scripts.iter().enumerate().map(|(n, text)| (format!("script.{}", n + 1), text.clone().into_bytes())),
    );
    Secret {
        metadata: child(operation, &plan.namespace, crd::inputs_name(name)),
        data: Some(data.into_iter().map(|(key, value)| (key, ByteString(value))).collect()),
        immutable: Some(true),
        type_: Some("Opaque".into()),
        ..Secret::default()
    }
}

/// The Job. `forks` is the number of hosts that ansible works on at once. The mounts follow from the keys of the snapshot, so a snapshot
/// that is found after a crash gives the same Job.
pub(crate) fn job(operation: &ClusterOperation, cluster: &Cluster, snapshot: &Secret, forks: usize) -> Job {
    let name = operation.metadata.name.as_deref().unwrap_or_default();
    let namespace = snapshot.metadata.namespace.as_deref().unwrap_or_default();
    let metadata = child(operation, namespace, crd::job_name(name));
    let pod = PodSpec {
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        restart_policy: Some("Never".into()),
        termination_grace_period_seconds: Some(30),
        security_context: Some(pod_security()),
        containers: vec![container(operation, cluster, forks)],
        volumes: Some(volumes(operation, cluster, snapshot)),
        ..PodSpec::default()
    };
    let disrupted = PodFailurePolicyOnPodConditionsPattern { type_: "DisruptionTarget".into(), status: "True".into() };
    Job {
        spec: Some(JobSpec {
            backoff_limit: Some(0),
            active_deadline_seconds: Some(deadline(&operation.spec)),
            // Running a playbook twice may do harm, so an interrupted run is never restarted automatically.
            pod_replacement_policy: Some("Failed".into()),
            pod_failure_policy: Some(PodFailurePolicy {
                rules: vec![PodFailurePolicyRule {
                    action: "FailJob".into(),
                    on_pod_conditions: Some(vec![disrupted]),
                    on_exit_codes: None,
                }],
            }),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: metadata.labels.clone(), ..ObjectMeta::default() }),
                spec: Some(pod),
            },
            ..JobSpec::default()
        }),
        metadata,
        status: None,
    }
}

fn container(operation: &ClusterOperation, cluster: &Cluster, forks: usize) -> Container {
    let env = [
        ("CLUSTER_NAME", operation.spec.cluster.as_str()),
        ("KUBEONKUBE_OPERATION", operation.metadata.name.as_deref().unwrap_or_default()),
        ("KUBEONKUBE_ROOT", ""),
        ("ANSIBLE_INVENTORY_UNPARSED_FAILED", "true"),
        ("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "true"),
        ("ANSIBLE_FORCE_COLOR", "1"),
        ("ANSIBLE_FORKS", &forks.to_string()),
    ]
    .map(|(name, value)| EnvVar { name: name.into(), value: Some(value.into()), value_from: None });
    let mount = |name: &str, path: &str, read_only| VolumeMount {
        name: name.into(),
        mount_path: path.into(),
        read_only: Some(read_only),
        ..VolumeMount::default()
    };
    let mut mounts = vec![mount("inputs", "/conf", true), mount("work", "/work-kubeonkube", false)];
    mounts.extend(cluster.spec.ssh_auth_ref.iter().map(|_| mount("ssh-auth", "/auth", true)));
    Container {
        name: PRODUCT.into(),
        image: Some(operation.spec.image.clone()),
        command: Some(vec!["python3".into(), "$(KUBEONKUBE_ROOT)/conf/entrypoint.py".into()]),
        env: Some(env.to_vec()),
        resources: Some(resources(operation)),
        volume_mounts: Some(mounts),
        security_context: Some(container_security()),
        ..Container::default()
    }
}

/// With [`container_security`], the Pod Security level `restricted`:
/// <https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted>
pub(crate) fn pod_security() -> PodSecurityContext {
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(NOBODY),
        run_as_group: Some(NOBODY),
        // The kubelet lets this group read the private key, whose mode is 0400. ssh accepts that, because root owns the file.
        fs_group: Some(NOBODY),
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), localhost_profile: None }),
        ..PodSecurityContext::default()
    }
}

/// The part of the level `restricted` that belongs to each container.
pub(crate) fn container_security() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".into()]), add: None }),
        ..SecurityContext::default()
    }
}

/// The resources of the run's container.
pub(crate) fn resources(operation: &ClusterOperation) -> ResourceRequirements {
    operation.spec.resources.clone().unwrap_or_else(default_resources)
}

/// Requests help the scheduler to choose a node. There are no limits: ansible's memory grows with forks and hosts, and a run that is
/// killed leaves machines half configured.
fn default_resources() -> ResourceRequirements {
    let requests = [("cpu", "100m"), ("memory", "256Mi")].map(|(key, value)| (key.to_owned(), Quantity(value.into())));
    ResourceRequirements { requests: Some(requests.into()), ..ResourceRequirements::default() }
}

fn volumes(operation: &ClusterOperation, cluster: &Cluster, snapshot: &Secret) -> Vec<Volume> {
    let secret = |name: &str, secret_name: Option<String>, items: Vec<KeyToPath>| Volume {
        name: name.into(),
        secret: Some(SecretVolumeSource { secret_name, items: Some(items), ..SecretVolumeSource::default() }),
        ..Volume::default()
    };
    let keys =
        snapshot.data.iter().flatten().map(|(key, _)| KeyToPath { key: key.clone(), path: path_of(key), mode: None });
    let ssh = cluster.spec.ssh_auth_ref.as_ref().map(|at| {
        let stored = if operation.spec.next_ssh_key.is_some() { crd::KEY_SSH_NEXT } else { crd::KEY_SSH };
        let key = KeyToPath { key: stored.into(), path: crd::KEY_SSH.into(), mode: Some(0o400) };
        secret("ssh-auth", Some(at.name.clone()), vec![key])
    });
    let work = Volume { name: "work".into(), empty_dir: Some(EmptyDirVolumeSource::default()), ..Volume::default() };
    [secret("inputs", snapshot.metadata.name.clone(), keys.collect()), work].into_iter().chain(ssh).collect()
}

/// The path below `/conf` for a key of the snapshot.
fn path_of(key: &str) -> String {
    if key == "kubeonkube_events.py" {
        return "callback/kubeonkube_events.py".into();
    }
    if let Some(number) = key.strip_prefix("script.") {
        return format!("scripts/{number}.sh");
    }
    match key.strip_prefix("source.").and_then(|rest| rest.split_once('.')) {
        Some((number, file)) => format!("sources/{number}/{file}"),
        None => key.to_owned(),
    }
}

/// The metadata of all children: labels and owner.
pub(crate) fn child(operation: &ClusterOperation, namespace: &str, name: String) -> ObjectMeta {
    let labels = [
        (crd::LABEL_OPERATION, operation.metadata.name.as_deref().unwrap_or_default()),
        (crd::LABEL_CLUSTER, operation.spec.cluster.as_str()),
        (crd::LABEL_CLUSTER_NAME, operation.spec.cluster.as_str()),
        (crd::LABEL_MANAGED_BY, PRODUCT),
    ];
    ObjectMeta {
        name: Some(name),
        namespace: Some(namespace.into()),
        labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
        owner_references: Some(vec![owner(operation)]),
        ..ObjectMeta::default()
    }
}

/// The number of hosts that ansible works on at once: all hosts of a small cluster, but never so many that the pod runs out of memory.
pub(crate) fn forks(hosts: usize) -> usize {
    hosts.clamp(5, 50)
}
