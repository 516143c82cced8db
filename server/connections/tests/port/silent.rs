//! Clients that send nothing, or nothing complete.

use std::time::Duration;

use kubeonkube_connections::Limits;
use tokio::io::AsyncWriteExt;
use tokio::time::interval;

use crate::world::{SOON, World, limits};

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let world = World::new(Limits { next_request: SOON, ..limits() }).await;
    world.connect().await.is_closed().await;
    let mut half = world.connect().await;
    half.send("GET / HTTP/1.1\r\nhost: loc").await;
    half.is_closed().await;
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_not_awaited() {
    let world = World::new(limits()).await;
    let (mut read, mut write) = world.connect().await.0.into_split();
    let sending = tokio::spawn(async move {
        let mut tick = interval(Duration::from_millis(10));
        for byte in "GET / HTTP/1.1\r\n".bytes().chain(std::iter::repeat(b'a')) {
            tick.tick().await;
            if write.write_all(&[byte]).await.is_err() {
                return;
            }
        }
    });
    tokio::time::timeout(SOON, sending).await.expect("closed").expect("ended");
    let _ = tokio::io::copy(&mut read, &mut tokio::io::sink()).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_answer() {
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    assert_eq!(client.ask("GET / HTTP/1.1").await, "hello");
    assert_eq!(client.ask("GET / HTTP/1.1").await, "hello", "the second request on one connection");
    client.is_closed().await;
    let mut signed_in = world.signed_in().await;
    signed_in.is_closed().await;
}

#[tokio::test]
async fn a_head_above_64_kib_is_refused() {
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    client.send("GET / HTTP/1.1\r\n").await;
    let line = format!("a: {}\r\n", "x".repeat(1000));
    while client.0.write_all(line.as_bytes()).await.is_ok() {}
}
