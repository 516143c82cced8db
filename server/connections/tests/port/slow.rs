//! Clients that send or read slowly, or stop in the middle.

use std::time::Duration;

use kubeonkube_connections::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{interval, timeout};

use crate::world::{BIG, SOON, World, limits};

#[tokio::test]
async fn a_body_that_stops_is_refused() {
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    client.send("POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nabc").await;
    assert!(client.answer().await.contains("too slowly"));
    client.is_closed().await;
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_refused() {
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    client.send("POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n").await;
    let (mut read, mut write) = client.0.into_split();
    let sending = tokio::spawn(async move {
        let mut tick = interval(Duration::from_millis(10));
        while write.write_all(b"x").await.is_ok() {
            tick.tick().await;
        }
    });
    let mut answer = Vec::new();
    let _ = timeout(SOON, read.read_to_end(&mut answer)).await.expect("in time");
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    timeout(SOON, sending).await.expect("closed").expect("ended");
}

#[tokio::test]
async fn a_slow_body_with_a_steady_rate_is_read() {
    const CHUNKS: usize = 40;
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    let length = CHUNKS * 1000;
    client.send(&format!("POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n")).await;
    let mut tick = interval(Duration::from_millis(50));
    // In all, five times the limit.
    for _ in 0..CHUNKS {
        tick.tick().await;
        client.send(&"x".repeat(1000)).await;
    }
    assert_eq!(client.answer().await, length.to_string());
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let world = World::new(limits()).await;
    let mut client = world.signed_in().await;
    client.send("GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    timeout(SOON, world.dropped.notified()).await.expect("the answer was dropped");
    client.is_closed().await;
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_download() {
    let world = World::new(Limits { write: Duration::from_secs(1), ..limits() }).await;
    let mut client = world.connect().await;
    client.send("GET /big HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    let head = client.reads("\r\n\r\n").await;
    assert!(head.contains(&format!("content-length: {BIG}")), "{head}");
    let (mut read, mut chunk, mut tick) = (0, vec![0; 64 * 1024], interval(Duration::from_millis(25)));
    // In all, more than three times the limit.
    loop {
        tick.tick().await;
        match timeout(SOON, client.0.read(&mut chunk)).await.expect("in time").expect("not cut") {
            0 => break,
            bytes => read += bytes,
        }
    }
    assert_eq!(read, BIG);
}
