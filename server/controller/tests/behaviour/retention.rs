//! K12: what is kept and what goes.

use crd::Phase;
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use crate::world::{World, eventually, phase};

#[tokio::test]
async fn k12_excess_goes_by_score_and_age_while_pending_and_running_stay() {
    let world = World::new().await;
    world.config_map("kubeonkube-config", &[("CLUSTER_OPERATIONS_BACKEND_LIMIT", "3")]).await;
    world.cluster("prod").await;
    for name in ["a", "b", "c"] {
        world.submit(name, "prod", "ok").await;
        world.finished(name).await;
    }
    let score = json!({"metadata": {"annotations": {"clay.io/eliminate-score": "7"}}});
    world.operations().patch("b", &PatchParams::default(), &Patch::Merge(score)).await.unwrap();
    world.submit("d", "prod", "hold").await;
    world.submit("e", "prod", "hold").await;
    world.operation_that("d", "run", |operation| phase(operation) == Phase::Running).await;
    assert_eq!(names(&world).await, ["a", "b", "c", "d", "e"]);
    world.kubelet.release("d");
    let left = async |wanted: &[&str]| eventually(async || (names(&world).await == wanted).then_some(())).await;
    left(&["a", "c", "d", "e"]).await.expect("the highest score goes first");
    world.kubelet.release("e");
    left(&["c", "d", "e"]).await.expect("then the oldest");
    let jobs = eventually(async || (world.all_jobs().await.len() == 3).then_some(()));
    jobs.await.expect("their Jobs go with them");
}

async fn names(world: &World) -> Vec<String> {
    let mut names: Vec<_> = world
        .operations()
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    names.sort();
    names
}
