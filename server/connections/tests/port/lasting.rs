//! Connections that are silent for good reason.

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::world::{SOON, World, limits};

#[tokio::test]
async fn an_answer_without_data_is_not_cut() {
    let world = World::new(limits()).await;
    let mut client = world.connect().await;
    client.send("GET /wait HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    client.reads("\r\n\r\n").await;
    world.let_the_limits_pass().await;
    world.go.notify_one();
    client.reads("2\r\ngo\r\n0\r\n\r\n").await;
    assert_eq!(client.ask("GET / HTTP/1.1").await, "hello", "the connection can be used again");
}

#[tokio::test]
async fn an_upgraded_connection_without_data_is_not_cut() {
    let world = World::new(limits()).await;
    let mut client = world.signed_in().await;
    client.send("GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n").await;
    let head = client.reads("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    world.let_the_limits_pass().await;
    world.go.notify_one();
    client.reads("go").await;
    client.send("x").await;
    let answered = timeout(SOON, client.0.read_u8()).await.expect("in time").expect("open");
    assert_eq!(answered, b'x');
}
