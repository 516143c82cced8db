//! The stop of a port.

use tokio::time::timeout;

use crate::world::{SOON, World, patient};

#[tokio::test]
async fn a_stop_lets_running_requests_end() {
    let world = World::new(patient()).await;
    let mut silent = world.connect().await;
    let mut idle = world.signed_in().await;
    let mut running = world.connect().await;
    running.send("GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    running.reads("\r\n\r\n").await;
    world.stop.cancel();
    silent.is_closed().await;
    idle.is_closed().await;
    assert!(!world.server.is_finished());
    world.go.notify_one();
    running.reads("2\r\ngo\r\n0\r\n\r\n").await;
    timeout(SOON, world.server).await.expect("ended").expect("no panic");
}

#[tokio::test]
async fn an_answer_without_end_does_not_delay_a_stop_for_long() {
    let mut limits = patient();
    limits.grace = std::time::Duration::from_millis(100);
    let world = World::new(limits).await;
    let mut running = world.connect().await;
    running.send("GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    running.reads("\r\n\r\n").await;
    world.stop.cancel();
    timeout(SOON, world.server).await.expect("ended").expect("no panic");
    running.is_closed().await;
}
