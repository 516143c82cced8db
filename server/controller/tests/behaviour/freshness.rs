//! A run uses the inputs as they are at its turn, not older ones.

use std::sync::Arc;
use std::time::Duration;

use crd::{ActionSource, ClusterOperationSpec, DataRef, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::DeleteParams;

use crate::relay::Relay;
use crate::world::{HOSTS, NAMESPACE, World, message, phase, reason};

#[tokio::test]
async fn a_run_uses_the_inventory_saved_just_before() {
    let mut world = World::without_controller().await;
    let relay = Arc::new(Relay::default());
    *relay.delay_config_maps.lock().unwrap() = Some(Duration::from_secs(2));
    world.start_controller_behind(relay).await;
    // 200 times in all; the clusters don't wait for each other.
    let on = async |cluster: String| {
        world.cluster(&cluster).await;
        for n in 0..20 {
            let (host, name) = (format!("new-{n:03}"), format!("op-{cluster}-{n:03}"));
            world.config_map(&format!("{cluster}-hosts"), &[("hosts.yml", &format!("{HOSTS}    {host}:\n"))]).await;
            world.submit(&name, &cluster, "ok").await;
            let operation = world.ended(&name).await;
            assert_eq!(phase(&operation), Phase::Succeeded, "{}", message(&operation));
            assert!(operation.status.unwrap().inputs.unwrap().hosts.contains(&host), "{name}");
            let runs = world.kubelet.runs.lock().unwrap();
            let run = runs.iter().find(|run| run.operation == name).unwrap();
            assert!(run.hosts_yml.contains(&host), "{name}");
        }
    };
    futures::future::join_all((0..10).map(|n| on(format!("prod-{n}")))).await;
}

#[tokio::test]
async fn changed_inputs_do_not_run_and_the_change_is_named() {
    let world = World::new().await;
    world.cluster("prod").await;
    let vars = "kube_version: v1.33.4\n";
    let confirmed = crd::inputs_sha256(HOSTS, vars);
    world.submit_with("ran", "prod", |spec| spec.expected_inputs = Some(confirmed.clone())).await;
    assert_eq!(phase(&world.ended("ran").await), Phase::Succeeded);
    world
        .config_map("prod-hosts", &[("hosts.yml", "all:\n  hosts:\n    m1:\n    w2: {ansible_password: hush}\n")])
        .await;
    world.config_map("prod-vars", &[("group_vars.yml", "kube_version: v1.34.0\n")]).await;
    world.submit_with("late", "prod", |spec| spec.expected_inputs = Some(confirmed)).await;
    let message = world.refused("late", "InputsChanged").await;
    for part in ["hosts added: w2", "hosts removed: w1", "variables changed: kube_version"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("hush"));
}

#[tokio::test]
async fn an_operation_waits_for_a_cluster_applied_after_it() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.submit("early", "prod", "ok").await;
    let early = world.operation_that("early", "wait", |operation| reason(operation) == "WaitsForInputs").await;
    assert_eq!(
        message(&early),
        "There is no Cluster “prod”. Create it, or name an existing one. The operation waits for it until 10 min after its submission."
    );
    world.cluster("prod").await;
    assert_eq!(phase(&world.ended("early").await), Phase::Succeeded);
}

#[tokio::test]
async fn an_operation_that_waits_for_inputs_keeps_its_place() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.create_cluster("prod", |_| {}).await;
    world.submit("prepare", "prod", "ok").await;
    world.submit("upgrade", "prod", "ok").await;
    let says = async |words: &str| {
        let waiting = world.operation_that("prepare", "wait", |operation| message(operation).contains(words)).await;
        assert_eq!((reason(&waiting), phase(&waiting)), ("WaitsForInputs", Phase::Pending));
        assert!(!message(&waiting).contains("submit"), "{}", message(&waiting));
    };
    says("hostsConfRef names ConfigMap lab/prod-hosts, which doesn't exist.").await;
    world.config_map("prod-hosts", &[("hosts.yml", HOSTS)]).await;
    says("varsConfRef names ConfigMap lab/prod-vars, which doesn't exist.").await;
    world.operation_that("upgrade", "wait", |operation| message(operation).contains("operation prepare")).await;
    world.config_map("prod-vars", &[("group_vars.yml", "")]).await;
    says("sshAuthRef names Secret lab/prod-ssh, which doesn't exist.").await;
    world.secret("prod-ssh", "ssh-privatekey", crate::world::KEY).await;
    for name in ["prepare", "upgrade"] {
        assert_eq!(phase(&world.ended(name).await), Phase::Succeeded);
    }
    let ran: Vec<String> = world.kubelet.runs.lock().unwrap().iter().map(|run| run.operation.clone()).collect();
    assert_eq!(ran, ["prepare", "upgrade"]);
}

/// In one commit, a tool may apply an operation before the new version of the objects that it needs.
#[tokio::test]
async fn an_operation_waits_for_keys_applied_after_it() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.config_map("prod-hosts", &[("inventory.ini", "[all]")]).await;
    world.config_map("prod-vars", &[("readme", "")]).await;
    world.config_map("prod-known-hosts", &[("readme", "")]).await;
    world.secret("prod-ssh", "id_ed25519", crate::world::KEY).await;
    world.config_map("books", &[("a.yml", "- hosts: all")]).await;
    world.create_cluster("prod", |_| {}).await;
    world
        .submit_with("new", "prod", |spec| {
            spec.action = "b.yml".into();
            (spec.action_source, spec.action_source_ref) =
                (ActionSource::Configmap, Some(DataRef::new(NAMESPACE, "books")));
        })
        .await;
    let says = async |words: &str| {
        let waiting = world.operation_that("new", "wait", |operation| message(operation).contains(words)).await;
        assert_eq!((reason(&waiting), phase(&waiting)), ("WaitsForInputs", Phase::Pending));
        let message = message(&waiting);
        assert!(message.contains(" The operation waits for it until 10 min after its submission."), "{message}");
        let is_reconciling = |cluster: &crd::Cluster| {
            let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice());
            crd::is_true(conditions.unwrap_or_default(), "Reconciling")
        };
        if !words.contains("books") {
            world.cluster_that("prod", "wait, too", is_reconciling).await;
        }
    };
    says("prod-hosts, which has no key “hosts.yml”. Its keys: inventory.ini. Add the key, or").await;
    world.config_map("prod-hosts", &[("hosts.yml", HOSTS)]).await;
    says("prod-vars, which has no key “group_vars.yml”. Its keys: readme. Add the key, or").await;
    world.config_map("prod-vars", &[("group_vars.yml", "")]).await;
    says("prod-known-hosts holds the machines' host keys, but has no text under the key “known_hosts”.").await;
    world.config_map("prod-known-hosts", &[("known_hosts", "m1 ssh-ed25519 AAAA\n")]).await;
    says("prod-ssh, which has no key “ssh-privatekey”. Its keys: id_ed25519. Add the key, or").await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    secrets.delete("prod-ssh", &DeleteParams::default()).await.unwrap();
    world.secret("prod-ssh", "ssh-privatekey", crate::world::KEY).await;
    says("action “b.yml” is not a key of ConfigMap lab/books. Its keys: a.yml. Add the key, or correct action.").await;
    world.config_map("books", &[("a.yml", "- hosts: all"), ("b.yml", "- hosts: all")]).await;
    assert_eq!(phase(&world.ended("new").await), Phase::Succeeded);
}

/// Its turn comes when the operation before it ends. Meanwhile somebody may have replaced an input, or not yet applied it.
#[tokio::test]
async fn inputs_may_be_missing_or_empty_when_the_turn_comes() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.cluster("prod").await;
    world.submit("prepare", "prod", "hold").await;
    world.operation_that("prepare", "run", |operation| phase(operation) == Phase::Running).await;
    let own = |spec: &mut ClusterOperationSpec| {
        spec.action = "upgrade.yml".into();
        (spec.action_source, spec.action_source_ref) =
            (ActionSource::Configmap, Some(DataRef::new(NAMESPACE, "books")));
    };
    world.submit_with("upgrade", "prod", own).await;
    world.submit("check", "prod", "ok").await;
    world.operation_that("check", "wait", |operation| !reason(operation).is_empty()).await;
    world.kubelet.release("prepare");
    let says = async |words: &str| {
        let waiting = world.operation_that("upgrade", "wait", |operation| message(operation).contains(words)).await;
        assert_eq!((reason(&waiting), phase(&waiting)), ("WaitsForInputs", Phase::Pending));
    };
    says("books, which doesn't exist.").await;
    // Times have whole seconds: after its submission, or after the end of the run before it.
    says("The operation waits for it until 10 min after").await;
    world.config_map("books", &[]).await;
    says("books, which is empty. Add the key “upgrade.yml”.").await;
    world.operation_that("check", "wait", |operation| message(operation).contains("operation upgrade")).await;
    world.config_map("books", &[("upgrade.yml", "- hosts: all")]).await;
    for name in ["upgrade", "check"] {
        assert_eq!(phase(&world.ended(name).await), Phase::Succeeded);
    }
    let ran: Vec<String> = world.kubelet.runs.lock().unwrap().iter().map(|run| run.operation.clone()).collect();
    assert_eq!(ran, ["prepare", "upgrade", "check"]);
}

/// What is said of an operation that waits with the turn ends, too.
#[tokio::test]
async fn the_turn_is_not_kept_for_ever_for_a_missing_input() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.cluster("prod").await;
    world.submit("first", "prod", "hold").await;
    world.operation_that("first", "run", |operation| phase(operation) == Phase::Running).await;
    for name in ["cancelled", "late", "last"] {
        world.submit(name, "prod", "ok").await;
        world.operation_that(name, "wait", |operation| !reason(operation).is_empty()).await;
    }
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    secrets.delete("prod-ssh", &DeleteParams::default()).await.unwrap();
    world.kubelet.release("first");
    let waits =
        async |name: &str| world.operation_that(name, "wait", |operation| reason(operation) == "WaitsForInputs").await;
    waits("cancelled").await;
    world.cancel("cancelled").await;
    world.refused("cancelled", "Cancelled").await;
    waits("late").await;
    world.stop_controller().await;
    world.config.inputs_timeout = Duration::ZERO;
    world.start_controller().await;
    world.refused("late", "ReferenceNotFound").await;
    world.refused("last", "ReferenceNotFound").await;
}

#[tokio::test]
async fn an_operation_waits_until_its_cancel_or_the_timeout() {
    let mut world = World::without_controller().await;
    world.config.inputs_timeout = Duration::from_secs(600);
    world.start_controller().await;
    world.submit("cancelled", "nowhere", "ok").await;
    world.operation_that("cancelled", "wait", |operation| reason(operation) == "WaitsForInputs").await;
    world.cancel("cancelled").await;
    world.refused("cancelled", "Cancelled").await;
    world.submit("late", "nowhere", "ok").await;
    world.operation_that("late", "wait", |operation| reason(operation) == "WaitsForInputs").await;
    world.stop_controller().await;
    world.config.inputs_timeout = Duration::ZERO;
    world.start_controller().await;
    let message = world.refused("late", "ClusterNotFound").await;
    assert!(
        message.ends_with("Then submit the operation again, under another name or after deleting this one."),
        "{message}"
    );
}

/// This includes Clusters without an SSH key: the inventory may name a key or a password.
#[tokio::test]
async fn host_keys_are_in_the_snapshot_of_every_run_over_ssh() {
    let world = World::new().await;
    let known = "m1 ssh-ed25519 AAAA\n";
    for (name, hosts) in [("keyless", HOSTS), ("local", "all: {hosts: {m1: {ansible_connection: local}}}\n")] {
        world.config_map(&format!("{name}-hosts"), &[("hosts.yml", hosts)]).await;
        world.config_map(&format!("{name}-vars"), &[("group_vars.yml", "")]).await;
        world.config_map(&format!("{name}-known-hosts"), &[("known_hosts", known)]).await;
        world.create_cluster(name, |spec| spec.ssh_auth_ref = None).await;
    }
    world.cluster("commented").await;
    world.config_map("commented-known-hosts", &[("known_hosts", "# none yet\n\n")]).await;
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), NAMESPACE);
    // Extra arguments or a user's own playbook may connect in another way than the inventory says.
    world.submit_with("dials", "local", |spec| spec.extra_args = Some("-e ansible_connection=ssh".into())).await;
    world.ended("dials").await;
    let data = secrets.get("dials-inputs").await.unwrap().data.unwrap();
    assert_eq!(data[crd::KEY_KNOWN_HOSTS].0, known.as_bytes());
    for (name, there) in [("keyless", Some(known)), ("local", None), ("commented", None)] {
        world.submit(name, name, "ok").await;
        assert_eq!(phase(&world.ended(name).await), Phase::Succeeded);
        let data = secrets.get(&format!("{name}-inputs")).await.unwrap().data.unwrap();
        assert_eq!(data.get(crd::KEY_KNOWN_HOSTS).map(|text| text.0.as_slice()), there.map(str::as_bytes), "{name}");
    }
}
