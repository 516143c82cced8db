//! Secret variables: set and deleted by name, never shown.

use api::Problem;
use api::backend::{Configurations, Operations};
use api::configuration::{SecretVariableChange, SecretVariables};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use serde_json::json;

use super::world::{World, at, eventually, new_cluster, new_operation};

async fn world() -> World {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    world
}

async fn change(world: &World, change: SecretVariableChange) -> Result<(), Problem> {
    world.console.change_secret_variable(&world.user, &"prod".parse().unwrap(), &change).await.map(drop)
}

async fn set(world: &World, name: &str, value: &str) -> Result<(), Problem> {
    change(world, SecretVariableChange::Set { name: name.into(), value: value.into() }).await
}

async fn shown(world: &World) -> SecretVariables {
    world.console.read(&world.user, &"prod".parse().unwrap()).await.unwrap().secrets
}

#[tokio::test]
async fn the_first_variable_creates_the_secret_of_the_cluster() {
    let world = world().await;
    let none = SecretVariables { changeable: true, ..SecretVariables::default() };
    assert_eq!(shown(&world).await, none);
    set(&world, " ansible_become_password ", "older").await.unwrap();
    assert_eq!(shown(&world).await.names, ["ansible_become_password"], "the page shows it at once");
    set(&world, "ansible_become_password", "hunter2 ").await.unwrap();
    set(&world, "registry_token", "t0ken").await.unwrap();
    let secret = world.secrets().get("prod-secret-vars").await.unwrap();
    assert_eq!(secret.type_.as_deref(), Some(crd::SECRET_VARS_TYPE));
    assert_eq!(secret.data.as_ref().unwrap()["ansible_become_password"].0, b"hunter2 ", "the value as it was typed");
    assert_eq!(secret.metadata.owner_references.unwrap()[0].name, "prod", "it is deleted with the cluster");
    let cluster = world.clusters().get("prod").await.unwrap();
    assert_eq!(cluster.spec.secret_vars_ref.unwrap().name, "prod-secret-vars");
    let now = shown(&world).await;
    assert_eq!(now.names, ["ansible_become_password", "registry_token"]);
    assert!(!now.foreign && now.problem.is_none(), "{now:?}");

    let delete = || SecretVariableChange::Delete { name: "registry_token".into() };
    change(&world, delete()).await.unwrap();
    change(&world, delete()).await.expect("a repeated deletion succeeds");
    assert_eq!(shown(&world).await.names, ["ansible_become_password"]);
}

#[tokio::test]
async fn a_review_names_secret_variables_that_are_never_read() {
    let world = world().await;
    set(&world, "db_password", "hunter2").await.unwrap();
    let by_kubectl = json!({"stringData": {"hostvars": "canary-value"}});
    let secrets = world.secrets();
    secrets.patch("prod-secret-vars", &Default::default(), &kube::api::Patch::Merge(by_kubectl)).await.unwrap();
    let review = Operations::review(&world.console, &world.user, &new_operation("prod")).await.unwrap();
    let said: Vec<&String> = review.warnings.iter().filter(|warning| warning.contains("Secret variables")).collect();
    let wanted = "Secret variables: ansible never reads the variable “hostvars”. It sets this one itself. Remove it, or choose \
                  another name.";
    assert_eq!(said, [wanted]);
}

#[tokio::test]
async fn an_interrupted_first_variable_is_continued() {
    let world = world().await;
    set(&world, "a", "1111").await.unwrap();
    let patch = kube::api::Patch::Merge(json!({"spec": {"secretVarsRef": null}}));
    world.clusters().patch("prod", &Default::default(), &patch).await.unwrap();
    set(&world, "b", "2222").await.unwrap();
    eventually(async || shown(&world).await.names == ["a", "b"]).await;
}

#[tokio::test]
async fn of_two_first_variables_at_once_none_is_lost() {
    let world = world().await;
    let (a, b) = futures::join!(set(&world, "a", "1111"), set(&world, "b", "2222"));
    for (name, result) in [("a", a), ("b", b)] {
        if let Err(why) = result {
            assert!(why.to_string().contains("try again"), "{why}");
            set(&world, name, "again").await.unwrap();
        }
    }
    eventually(async || shown(&world).await.names == ["a", "b"]).await;
}

#[tokio::test]
async fn bad_names_and_values_are_refused_at_their_field() {
    let world = world().await;
    for name in ["", "1st", "with-dash", "with space", "é", &"a".repeat(101)] {
        let refused = set(&world, name, "value").await;
        assert!(!at(&refused, "variable").is_empty(), "{name}");
    }
    assert!(at(&set(&world, "a", "").await, "secret_value").contains("delete it"));
    assert!(at(&set(&world, "a", "123").await, "secret_value").contains("at least 4"));
    let none = change(&world, SecretVariableChange::Delete { name: String::new() }).await;
    assert!(at(&none, "variable").contains("Choose"));
    assert!(at(&set(&world, "a", &"x".repeat(64 * 1024 + 1)).await, "secret_value").contains("65536"));
    assert_eq!(shown(&world).await.secret, None);
}

#[tokio::test]
async fn a_secret_of_others_is_not_taken_over() {
    let world = world().await;
    let secret = |kind: &str| -> Secret {
        let metadata = json!({"name": "prod-secret-vars"});
        serde_json::from_value(json!({"metadata": metadata, "type": kind, "stringData": {"theirs": "x"}})).unwrap()
    };
    world.secrets().create(&PostParams::default(), &secret(crd::SECRET_VARS_TYPE)).await.unwrap();
    let refused = set(&world, "a", "1111").await.unwrap_err().to_string();
    assert!(refused.contains("doesn't belong to this cluster"), "{refused}");
    world.secrets().delete("prod-secret-vars", &Default::default()).await.unwrap();
    world.secrets().create(&PostParams::default(), &secret("Opaque")).await.unwrap();
    let refused = set(&world, "a", "1111").await.unwrap_err().to_string();
    assert!(refused.contains(crd::SECRET_VARS_TYPE), "{refused}");
    assert_eq!(world.secrets().get("prod-secret-vars").await.unwrap().data.unwrap().len(), 1);
    assert_eq!(world.clusters().get("prod").await.unwrap().spec.secret_vars_ref, None);

    // A user has named such a Secret with kubectl.
    let at = json!({"namespace": world.clusters().get("prod").await.unwrap().spec.hosts_conf_ref.namespace, "name": "prod-secret-vars"});
    let patch = kube::api::Patch::Merge(json!({"spec": {"secretVarsRef": at}}));
    world.clusters().patch("prod", &Default::default(), &patch).await.unwrap();
    eventually(async || shown(&world).await.foreign).await;
    let now = shown(&world).await;
    assert!(!now.changeable && now.problem.as_ref().unwrap().contains("type"), "{now:?}");
}
