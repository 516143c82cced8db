//! More connections than a port allows.

use futures::future::{join_all, select_all};
use kubeonkube_connections::Limits;

use crate::world::{Client, World, patient};

/// A port for five connections, four of them without a session, of which two may be silent.
async fn small() -> World {
    World::new(Limits { connections: 5, strangers: 4, ..patient() }).await
}

async fn strangers(world: &World, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(world.connect().await);
    }
    clients
}

#[tokio::test]
async fn the_oldest_silent_connection_makes_room_for_the_next() {
    let world = small().await;
    let mut stranger = world.connect().await;
    assert_eq!(stranger.ask("GET / HTTP/1.1").await, "hello");
    let mut silent = strangers(&world, 10).await;
    for client in &mut silent[..8] {
        client.is_closed().await;
    }
    assert_eq!(silent[9].ask("GET / HTTP/1.1").await, "hello", "the newest one was closed");
    assert_eq!(stranger.ask("GET / HTTP/1.1").await, "hello", "one that isn't silent was closed");
}

#[tokio::test]
async fn of_strangers_the_one_with_the_oldest_request_is_closed() {
    let world = small().await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut client = world.connect().await;
        assert_eq!(client.ask("GET / HTTP/1.1").await, "hello");
        clients.push(client);
    }
    assert_eq!(clients[0].ask("GET / HTTP/1.1").await, "hello", "now the second one has been silent longer");
    let mut fifth = world.connect().await;
    assert_eq!(fifth.ask("GET / HTTP/1.1").await, "hello");
    clients[1].is_closed().await;
    assert_eq!(clients[0].ask("GET / HTTP/1.1").await, "hello", "the other one was closed");
}

#[tokio::test]
async fn a_flood_of_strangers_closes_no_one_who_is_signed_in() {
    let world = small().await;
    let mut ann = world.signed_in().await;
    let mut flood = strangers(&world, 40).await;
    let (_, closed, _) = select_all(flood.iter_mut().map(|client| Box::pin(client.is_closed()))).await;
    assert!(closed < 40);
    assert_eq!(ann.ask("GET / HTTP/1.1").await, "hello");
    let mut bob = world.signed_in().await;
    assert_eq!(bob.ask("GET / HTTP/1.1").await, "hello", "a new connection of a signed-in user");
}

#[tokio::test]
async fn a_full_port_accepts_the_next_when_one_ends() {
    let world = small().await;
    let mut people = join_all((0..5).map(|_| world.signed_in())).await;
    let mut sixth = world.connect().await;
    sixth.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    for person in &mut people {
        assert_eq!(person.ask("GET / HTTP/1.1").await, "hello");
    }
    assert!(sixth.0.try_read(&mut [0]).is_err(), "six connections are open");
    people.pop();
    assert_eq!(sixth.answer().await, "hello");
}

#[tokio::test]
async fn an_upgraded_connection_keeps_its_place() {
    let world = World::new(Limits { connections: 1, strangers: 1, ..patient() }).await;
    let mut socket = world.connect().await;
    // With one place only, this connection would be closed for the next one as a stranger.
    assert_eq!(socket.ask("GET / HTTP/1.1\r\nauthorization: yes").await, "hello");
    socket.send("GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n").await;
    socket.reads("\r\n\r\n").await;
    let mut next = world.connect().await;
    next.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    world.go.notify_one();
    socket.reads("go").await;
    assert!(next.0.try_read(&mut [0]).is_err(), "two connections are open");
    drop(socket);
    assert_eq!(next.answer().await, "hello");
}
