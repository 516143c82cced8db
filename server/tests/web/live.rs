//! The live socket, through a real listener and a real WebSocket client.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use api::live::{LiveFrame, Topic};
use connections::{Limits, plain};
use futures::{SinkExt, StreamExt};
use http::{StatusCode, header};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

use crate::patience::PATIENCE;
use crate::world::World;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) async fn listen(world: &World) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let (router, stop) = (world.router.clone(), CancellationToken::new());
    tokio::spawn(connections::serve(listener, Limits::console(1024), plain, router, stop));
    address
}

pub(crate) async fn connect(address: SocketAddr, cookie: &str, origin: &str) -> Result<Socket, StatusCode> {
    let mut request = format!("ws://{address}/live").into_client_request().expect("a request");
    request.headers_mut().insert(header::COOKIE, cookie.parse().expect("ascii"));
    request.headers_mut().insert(header::ORIGIN, origin.parse().expect("ascii"));
    match connect_async(request).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status()),
        Err(error) => panic!("{error}"),
    }
}

/// A socket of a signed-in user.
async fn open(world: &World) -> Socket {
    let (address, cookie) = (listen(world).await, world.sign_in().await);
    connect(address, &cookie, &format!("http://{address}")).await.expect("connected")
}

async fn send(socket: &mut Socket, text: &str) {
    socket.send(Message::text(text)).await.expect("sent");
}

/// The next frame, or the close code if the socket was closed.
async fn next(socket: &mut Socket) -> Result<LiveFrame, CloseCode> {
    match timeout(PATIENCE, socket.next()).await.expect("in time").expect("open").expect("a message") {
        Message::Text(text) => Ok(serde_json::from_str(&text).expect("a frame")),
        Message::Close(frame) => Err(frame.expect("a reason").code),
        other => panic!("{other:?}"),
    }
}

fn changed(topic: Topic) -> Result<LiveFrame, CloseCode> {
    Ok(LiveFrame::Changed { topic })
}

#[tokio::test]
async fn a_socket_needs_a_session_and_our_origin() {
    let world = World::new();
    let (address, cookie) = (listen(&world).await, world.sign_in().await);
    let ours = format!("http://{address}");
    assert_eq!(connect(address, "", &ours).await.err(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(connect(address, &cookie, "http://evil.example").await.err(), Some(StatusCode::FORBIDDEN));
    assert!(connect(address, &cookie, &ours).await.is_ok());
}

#[tokio::test]
async fn a_tab_gets_wanted_topics_at_once_and_after_each_change() {
    let world = World::new();
    let mut socket = open(&world).await;
    send(&mut socket, r#"{"do":"topics","topics":[{"topic":"operation","name":"grow"}]}"#).await;
    let grow = Topic::Operation("grow".into());
    assert_eq!(
        next(&mut socket).await,
        changed(grow.clone()),
        "a new topic is sent at once: it may have changed since the page was rendered"
    );
    for _ in 0..50 {
        world.fake.changes.send(Topic::Clusters).expect("a subscriber");
        world.fake.changes.send(grow.clone()).expect("a subscriber");
    }
    assert_eq!(next(&mut socket).await, changed(grow.clone()), "changes are sent");
    send(&mut socket, r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#).await;
    // How many frames the fifty changes become depends on the time (`topics.rs`).
    let mut frame = next(&mut socket).await;
    while frame == changed(grow.clone()) {
        frame = next(&mut socket).await;
    }
    assert_eq!(frame, changed(Topic::Clusters), "only wanted topics are sent");
}

#[tokio::test]
async fn a_run_is_followed_from_a_line_to_its_end() {
    let world = World::new();
    let mut socket = open(&world).await;
    send(&mut socket, r#"{"do":"follow","run":"endless","from":1}"#).await;
    send(&mut socket, r#"{"do":"follow","run":"grow","from":9}"#).await;
    let Ok(LiveFrame::Lines { first: 9, lines, .. }) = next(&mut socket).await else { panic!("no lines") };
    assert_eq!(lines.iter().map(|line| line.s.as_str()).collect::<Vec<_>>(), ["line 9", "line 10"]);
    let Ok(LiveFrame::End { end, .. }) = next(&mut socket).await else { panic!("no end") };
    assert_eq!((end.lines, end.missing), (10, 0));
    send(&mut socket, r#"{"do":"unfollow","run":"endless"}"#).await;
    send(&mut socket, r#"{"do":"follow","run":"none","from":1}"#).await;
    let Ok(LiveFrame::Refused { message }) = next(&mut socket).await else { panic!("not refused") };
    assert!(message.contains("none"), "{message}");
}

#[tokio::test]
async fn a_follow_survives_an_interruption_and_reports_it() {
    let world = World::new();
    let mut socket = open(&world).await;
    send(&mut socket, r#"{"do":"follow","run":"hiccup","from":1}"#).await;
    let interrupted =
        |frame| matches!(frame, Ok(LiveFrame::Interrupted { message, .. }) if message.contains("did not answer"));
    assert!(interrupted(next(&mut socket).await));
    let lines = async |socket: &mut Socket| match next(socket).await {
        Ok(LiveFrame::Lines { first, lines, .. }) => (first, lines.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(&mut socket).await, (1, 0), "an empty frame ends the interruption");
    assert_eq!(lines(&mut socket).await, (1, 1));
    assert!(interrupted(next(&mut socket).await), "interrupted between two lines");
    assert_eq!(lines(&mut socket).await, (2, 0));
    assert_eq!(lines(&mut socket).await, (2, 1), "continues at the next line");
    assert!(matches!(next(&mut socket).await, Ok(LiveFrame::End { end, .. }) if end.lines == 2));
}

#[tokio::test]
async fn a_follow_ends_with_a_reason_when_its_right_is_revoked() {
    let world = World::new();
    let mut socket = open(&world).await;
    send(&mut socket, r#"{"do":"follow","run":"closed","from":1}"#).await;
    assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Lines { .. })));
    let last = next(&mut socket).await;
    assert!(matches!(&last, Ok(LiveFrame::Refused { message }) if message.contains("any more")), "{last:?}");
}

#[tokio::test]
async fn invalid_requests_are_refused_and_the_socket_stays_open() {
    let world = World::new();
    let mut socket = open(&world).await;
    for bad in [
        "",
        "[]",
        "{\"do\":\"shutdown\"}",
        r#"{"do":"follow","run":"../etc","from":1}"#,
        r#"{"do":"follow","run":"a","from":-1}"#,
    ] {
        send(&mut socket, bad).await;
        assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Refused { .. })), "{bad}");
    }
    for n in 0..8 {
        send(&mut socket, &format!(r#"{{"do":"follow","run":"endless-{n}","from":1}}"#)).await;
        assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Refused { .. })), "the run doesn't exist");
    }
}

#[tokio::test]
async fn sign_out_closes_open_sockets_of_that_session_only() {
    let world = World::new();
    let (address, ann, bob) = (listen(&world).await, world.sign_in().await, world.sign_in().await);
    let origin = format!("http://{address}");
    let mut hers = connect(address, &ann, &origin).await.expect("connected");
    let mut his = connect(address, &bob, &origin).await.expect("connected");
    assert_eq!(world.post("/logout", &ann, "").await.status, StatusCode::SEE_OTHER);
    assert_eq!(next(&mut hers).await, Ok(LiveFrame::SignedOut));
    assert_eq!(next(&mut hers).await, Err(CloseCode::Policy));
    assert_eq!(connect(address, &ann, &origin).await.err(), Some(StatusCode::UNAUTHORIZED));
    send(&mut his, r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#).await;
    assert_eq!(next(&mut his).await, changed(Topic::Clusters));
}

#[tokio::test]
async fn a_stop_of_the_server_closes_sockets_and_waits_for_them() {
    let world = World::new();
    let mut socket = open(&world).await;
    world.web.stop.cancel();
    assert_eq!(next(&mut socket).await, Err(CloseCode::Away));
    world.web.sockets.close();
    timeout(PATIENCE, world.web.sockets.wait()).await.expect("every socket's task ended");
}

#[tokio::test]
async fn the_end_of_the_session_closes_its_sockets() {
    let world = World::new();
    let address = listen(&world).await;
    // On a busy machine, a session may end before its socket is connected.
    let mut socket = loop {
        let user = api::User { name: "ann".into(), token: None };
        let soon = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() + 2;
        let cookie = world.web.sessions.start(user, Some(soon)).expect("a session");
        let cookie = cookie.to_str().expect("ascii").split(';').next().expect("a pair").to_owned();
        if let Ok(socket) = connect(address, &cookie, &format!("http://{address}")).await {
            break socket;
        }
    };
    assert_eq!(next(&mut socket).await, Ok(LiveFrame::SignedOut));
}
