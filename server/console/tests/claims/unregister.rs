use api::Problem;
use api::backend::{Clusters, Operations};
use api::cluster::Unregister;
use api::operation::NewOperation;
use kube::api::PostParams;

use super::world::{NAMESPACE, World, at, eventually, named, new_cluster, new_operation};

fn typed(confirm: &str, delete_records: bool) -> Unregister {
    Unregister { confirm: confirm.into(), delete_records }
}

#[tokio::test]
async fn unregistering_deletes_only_what_the_console_made() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let own = k8s_openapi::api::core::v1::ConfigMap { metadata: named("own"), ..Default::default() };
    world.config_maps().create(&PostParams::default(), &own).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    world.set_phase(name.as_str(), crd::Phase::Succeeded, "Done").await;
    let prod = "prod".parse().unwrap();
    world.console.unregister(&world.user, &prod, &typed("prod", false)).await.unwrap();
    let gone = Clusters::get(&world.console, &world.user, &prod).await;
    assert!(matches!(gone, Err(Problem::NotFound { .. })), "{gone:?}");
    eventually(async || world.config_maps().get_opt("prod-hosts-conf").await.unwrap().is_none()).await;
    eventually(async || world.secrets().get_opt("prod-ssh-auth").await.unwrap().is_none()).await;
    assert!(world.config_maps().get_opt("own").await.unwrap().is_some());
    assert_eq!(Operations::get(&world.console, &world.user, &name).await.unwrap().row.cluster, "prod");
}

#[tokio::test]
async fn on_request_only_operations_of_this_cluster_are_deleted() {
    let world = World::standalone().await;
    for cluster in ["prod", "lab"] {
        world.register(&new_cluster(cluster)).await.unwrap();
        for n in 0..12 {
            let name = format!("{cluster}-{n}");
            world.submit(&NewOperation { name: Some(name.parse().unwrap()), ..new_operation(cluster) }).await.unwrap();
            world.set_phase(&name, crd::Phase::Succeeded, "Done").await;
        }
    }
    world.console.unregister(&world.user, &"prod".parse().unwrap(), &typed("prod", true)).await.unwrap();
    let left = world.operations().list(&Default::default()).await.unwrap();
    assert!(left.items.len() == 12 && left.items.iter().all(|o| o.spec.cluster == "lab"), "{}", left.items.len());
}

#[tokio::test]
async fn a_hosted_cluster_is_not_unregistered() {
    let world = World::standalone().await;
    let hosted = serde_json::json!({"metadata": {"name": "prod"}, "spec": {"hosted": {
        "version": "v1.36.4", "namespace": "prod", "networking": {"podCidr": "10.1.0.0/16"}}}});
    world.clusters().create(&PostParams::default(), &serde_json::from_value(hosted).unwrap()).await.unwrap();
    eventually(async || Clusters::get(&world.console, &world.user, &"prod".parse().unwrap()).await.is_ok()).await;
    let refused = world.console.unregister(&world.user, &"prod".parse().unwrap(), &typed("prod", false)).await;
    assert!(refused.is_err_and(|problem| problem.to_string().contains("kubectl delete cluster prod")));
    assert!(world.clusters().get("prod").await.is_ok());
}

#[tokio::test]
async fn unregistering_needs_the_name_to_be_typed() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let before = world.everything().await;
    for wrong in ["", "Prod", "prod2", "pro"] {
        let refused = world.console.unregister(&world.user, &"prod".parse().unwrap(), &typed(wrong, true)).await;
        assert!(at(&refused, "confirm").contains("prod"), "{refused:?}");
    }
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn a_cluster_with_an_open_operation_is_not_unregistered() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let name = world.submit(&new_operation("prod")).await.unwrap();
    let prod = "prod".parse().unwrap();
    for phase in [crd::Phase::Pending, crd::Phase::Running] {
        world.set_phase(name.as_str(), phase, "Open").await;
        let refused = world.console.unregister(&world.user, &prod, &typed("prod", true)).await.unwrap_err();
        assert!(refused.to_string().contains(name.as_str()), "{refused}");
    }
    world.set_phase(name.as_str(), crd::Phase::Failed, "Done").await;
    world.console.unregister(&world.user, &prod, &typed("prod", false)).await.unwrap();
    let again = world.console.unregister(&world.user, &prod, &typed("prod", false)).await;
    assert!(matches!(again, Err(Problem::NotFound { .. })), "{again:?}");
    assert_eq!(
        world
            .config_maps()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .iter()
            .filter(|m| m.metadata.namespace.as_deref() != Some(NAMESPACE))
            .count(),
        0
    );
}
