//! Many operations, two controllers.

use std::sync::Arc;

use crd::Phase;

use crate::relay::Relay;
use crate::world::{World, message, phase};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_controllers_never_run_two_jobs_of_a_cluster() {
    let mut world = World::without_controller().await;
    world.start_controller().await;
    // The second one sees all changes late, so its claims must fail.
    let late = Arc::new(Relay::default());
    *late.delay_watches.lock().unwrap() = Some(std::time::Duration::from_millis(50));
    world.start_controller_behind(late).await;
    world.cluster("prod").await;
    let names: Vec<String> = (0..200).map(|n| format!("op-{n:03}")).collect();
    for name in &names {
        world.submit(name, "prod", "ok").await;
    }
    for name in &names {
        let operation = world.ended(name).await;
        assert_eq!(phase(&operation), Phase::Succeeded, "{name}: {}", message(&operation));
    }
    let runs = world.kubelet.runs.lock().unwrap();
    let beside: Vec<_> = runs.iter().filter(|run| !run.beside.is_empty()).collect();
    assert!(beside.is_empty(), "{beside:#?}");
    assert_eq!(runs.len(), 200, "each ran once");
}
