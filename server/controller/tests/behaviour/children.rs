//! What the Job and the snapshot contain of an operation and its cluster.

use crd::{Engine, Phase};
use k8s_openapi::api::core::v1::{ResourceRequirements, Secret};
use kube::Api;
use serde_json::json;

use crate::world::{NAMESPACE, World, message, phase, reason};

#[tokio::test]
async fn the_job_has_the_resources_and_deadline_of_the_spec() {
    let world = World::new().await;
    world.cluster("prod").await;
    let asked: ResourceRequirements = serde_json::from_value(json!({
        "requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "1Gi"}
    }))
    .unwrap();
    world
        .submit_with("a", "prod", |spec| {
            spec.resources = Some(asked.clone());
            spec.active_deadline_seconds = Some(4321);
        })
        .await;
    world.ended("a").await;
    let job = world.jobs().get("kubeonkube-a-job").await.unwrap().spec.unwrap();
    assert_eq!(job.active_deadline_seconds, Some(4321));
    assert_eq!(job.template.spec.unwrap().containers[0].resources, Some(asked));
}

#[tokio::test]
async fn the_defaults_are_six_hours_and_small_requests() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.ended("a").await;
    let job = world.jobs().get("kubeonkube-a-job").await.unwrap().spec.unwrap();
    assert_eq!(job.active_deadline_seconds, Some(6 * 3600));
    let resources = job.template.spec.unwrap().containers[0].resources.clone().unwrap();
    let requests = resources.requests.unwrap();
    assert_eq!((requests["cpu"].0.as_str(), requests["memory"].0.as_str()), ("100m", "256Mi"));
    assert_eq!(resources.limits, None, "a run that is killed leaves machines half configured");
}

/// <https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted>
#[tokio::test]
async fn k20_a_run_has_no_root_no_token_and_no_privileges() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.ended("a").await;
    let pod = world.jobs().get("kubeonkube-a-job").await.unwrap().spec.unwrap().template.spec.unwrap();
    let [container] = &pod.containers[..] else { panic!("{:?}", pod.containers) };
    assert!(pod.init_containers.is_none() && pod.host_network.is_none() && pod.host_pid.is_none());
    assert_eq!(pod.automount_service_account_token, Some(false));
    let security = pod.security_context.unwrap();
    assert_eq!(security.run_as_non_root, Some(true));
    assert!(security.run_as_user.is_some_and(|user| user > 0) && security.run_as_group.is_some_and(|group| group > 0));
    assert_eq!(security.fs_group, security.run_as_group, "the run can't read its private key");
    assert_eq!(security.seccomp_profile.unwrap().type_, "RuntimeDefault");
    let own = container.security_context.clone().unwrap();
    assert_eq!((own.allow_privilege_escalation, own.privileged), (Some(false), None));
    assert_eq!(own.capabilities.unwrap().drop, Some(vec!["ALL".to_owned()]));
    let volumes = pod.volumes.unwrap();
    assert!(volumes.iter().all(|volume| volume.secret.is_some() || volume.empty_dir.is_some()), "{volumes:?}");
}

#[tokio::test]
async fn the_known_hosts_of_a_cluster_are_in_the_snapshot_and_at_conf() {
    const KEYS: &str = "m1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDzH\n";
    let world = World::new().await;
    world.cluster("prod").await;
    world.config_map("prod-known-hosts", &[("known_hosts", KEYS)]).await;
    world.config_map("other-known-hosts", &[("known_hosts", "m1 ssh-ed25519 another cluster's\n")]).await;
    world.submit("a", "prod", "ok").await;
    let a = world.ended("a").await;
    assert_eq!(phase(&a), Phase::Succeeded, "{}", message(&a));
    let (snapshot, places) = mounted_at_conf(&world, "a").await;
    assert_eq!(snapshot.data.unwrap()["known_hosts"].0, KEYS.as_bytes());
    assert_eq!(places.get("known_hosts").map(String::as_str), Some("known_hosts"), "{places:?}");
}

#[tokio::test]
async fn unreadable_host_keys_are_an_error() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.config_map("prod-known-hosts", &[("known-hosts", "m1 ssh-ed25519 AAAA\n")]).await;
    world.submit("a", "prod", "ok").await;
    let a = world.ended("a").await;
    assert_eq!((phase(&a), reason(&a)), (Phase::Failed, "HostKeysUnreadable"), "{}", message(&a));
    assert!(message(&a).contains("Its keys: known-hosts."), "{}", message(&a));
}

#[tokio::test]
async fn a_cluster_without_known_hosts_mounts_none() {
    let world = World::new().await;
    world.cluster("prod").await;
    world.submit("a", "prod", "ok").await;
    world.ended("a").await;
    let (snapshot, places) = mounted_at_conf(&world, "a").await;
    assert!(!snapshot.data.unwrap().contains_key("known_hosts"));
    assert!(places.contains_key("hosts.yml") && !places.contains_key("known_hosts"), "{places:?}");
}

#[tokio::test]
async fn the_status_names_the_engine_of_the_run() {
    let world = World::new().await;
    world.cluster("judged").await;
    world.config_map("declared-hosts", &[("hosts.yml", crate::world::HOSTS)]).await;
    world.config_map("declared-vars", &[("group_vars.yml", "")]).await;
    world
        .create_cluster("declared", |spec| {
            spec.ssh_auth_ref = None;
            spec.engine = Some(Engine::Kubespray);
        })
        .await;
    for cluster in ["judged", "declared"] {
        world.submit(cluster, cluster, "ok").await;
    }
    let engine = async |name: &str| world.ended(name).await.status.unwrap().engine;
    assert_eq!(engine("judged").await, Some(Engine::Kubeonkube), "by the image's name");
    assert_eq!(engine("declared").await, Some(Engine::Kubespray), "as the Cluster says");
}

/// The snapshot of an operation, and for each of its keys the path below `/conf`.
async fn mounted_at_conf(world: &World, operation: &str) -> (Secret, std::collections::BTreeMap<String, String>) {
    let job = world.jobs().get(&format!("kubeonkube-{operation}-job")).await.unwrap();
    let pod = job.spec.unwrap().template.spec.unwrap();
    let mounts = pod.containers[0].volume_mounts.clone().unwrap();
    let mount = mounts.iter().find(|mount| mount.mount_path == "/conf").expect("a mount at /conf");
    let volume = pod.volumes.unwrap().into_iter().find(|volume| volume.name == mount.name).expect("its volume");
    let source = volume.secret.expect("it is a Secret");
    let name = source.secret_name.expect("it has a name");
    assert_eq!(name, format!("{operation}-inputs"));
    let places = source.items.unwrap().into_iter().map(|item| (item.key, item.path)).collect();
    (Api::<Secret>::namespaced(world.client.clone(), NAMESPACE).get(&name).await.unwrap(), places)
}
