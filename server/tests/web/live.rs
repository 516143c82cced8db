//! The live socket, through a real listener and a real WebSocket client.

use std::{net::SocketAddr, time::Duration};

use api::live::{LiveFrame, Topic};
use futures::{SinkExt, StreamExt};
use http::{StatusCode, header};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest, protocol::frame::coding::CloseCode},
};

use crate::world::World;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

const SOON: Duration = Duration::from_secs(10);

pub(crate) async fn listen(world: &World) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(axum::serve(listener, world.router.clone()).into_future());
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

/// A socket of somebody who is signed in.
pub(crate) async fn open(world: &World) -> Socket {
    let (address, cookie) = (listen(world).await, world.sign_in().await);
    connect(address, &cookie, &format!("http://{address}")).await.expect("connected")
}

async fn say(socket: &mut Socket, text: &str) {
    socket.send(Message::text(text)).await.expect("sent");
}

/// The next frame; None when the socket was closed, with the reason's code.
async fn next(socket: &mut Socket) -> Result<LiveFrame, CloseCode> {
    match timeout(SOON, socket.next()).await.expect("in time").expect("open").expect("a message") {
        Message::Text(text) => Ok(serde_json::from_str(&text).expect("a frame")),
        Message::Close(frame) => Err(frame.expect("a reason").code),
        other => panic!("{other:?}"),
    }
}

fn changed(topic: Topic) -> Result<LiveFrame, CloseCode> {
    Ok(LiveFrame::Changed { topic })
}

#[tokio::test]
async fn a_foreign_page_or_a_stranger_gets_no_socket() {
    let world = World::new();
    let (address, cookie) = (listen(&world).await, world.sign_in().await);
    let ours = format!("http://{address}");
    assert_eq!(connect(address, "", &ours).await.err(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(connect(address, &cookie, "http://evil.example").await.err(), Some(StatusCode::FORBIDDEN));
    assert!(connect(address, &cookie, &ours).await.is_ok());
}

#[tokio::test]
async fn a_tab_hears_of_what_it_wants_at_once_and_of_each_later_change() {
    let world = World::new();
    let mut socket = open(&world).await;
    say(&mut socket, r#"{"do":"topics","topics":[{"topic":"operation","name":"grow"}]}"#).await;
    let grow = Topic::Operation("grow".into());
    assert_eq!(next(&mut socket).await, changed(grow.clone()), "it may have changed since the page was rendered");
    for _ in 0..50 {
        world.fake.news.send(Topic::Clusters).expect("heard");
        world.fake.news.send(grow.clone()).expect("heard");
    }
    assert_eq!(next(&mut socket).await, changed(grow), "the last of many changes");
    say(&mut socket, r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#).await;
    assert_eq!(next(&mut socket).await, changed(Topic::Clusters), "fifty changes became one frame");
}

#[tokio::test]
async fn a_run_is_followed_from_a_line_to_its_end() {
    let world = World::new();
    let mut socket = open(&world).await;
    say(&mut socket, r#"{"do":"follow","run":"endless","from":1}"#).await;
    say(&mut socket, r#"{"do":"follow","run":"grow","from":9}"#).await;
    let Ok(LiveFrame::Lines { first: 9, lines, .. }) = next(&mut socket).await else { panic!("no lines") };
    assert_eq!(lines.iter().map(|line| line.s.as_str()).collect::<Vec<_>>(), ["line 9", "line 10"]);
    let Ok(LiveFrame::End { end, .. }) = next(&mut socket).await else { panic!("no end") };
    assert_eq!((end.lines, end.missing), (10, 0));
    say(&mut socket, r#"{"do":"unfollow","run":"endless"}"#).await;
    say(&mut socket, r#"{"do":"follow","run":"none","from":1}"#).await;
    let Ok(LiveFrame::Refused { message }) = next(&mut socket).await else { panic!("not refused") };
    assert!(message.contains("none"), "{message}");
}

#[tokio::test]
async fn a_follow_outlives_a_hiccup_of_the_cluster_and_says_why_it_is_silent() {
    let world = World::new();
    let mut socket = open(&world).await;
    say(&mut socket, r#"{"do":"follow","run":"hiccup","from":1}"#).await;
    let silent = |frame| matches!(frame, Ok(LiveFrame::Refused { message }) if message.contains("did not answer"));
    assert!(silent(next(&mut socket).await));
    let lines = async |socket: &mut Socket| match next(socket).await {
        Ok(LiveFrame::Lines { first, lines, .. }) => (first, lines.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(&mut socket).await, (1, 0), "it goes on");
    assert_eq!(lines(&mut socket).await, (1, 1));
    assert!(silent(next(&mut socket).await), "cut between two lines");
    assert_eq!(lines(&mut socket).await, (2, 0));
    assert_eq!(lines(&mut socket).await, (2, 1), "from where it was");
    assert!(matches!(next(&mut socket).await, Ok(LiveFrame::End { end, .. }) if end.lines == 2));
}

#[tokio::test]
async fn a_right_that_was_taken_away_ends_a_follow_with_a_sentence() {
    let world = World::new();
    let mut socket = open(&world).await;
    say(&mut socket, r#"{"do":"follow","run":"closed","from":1}"#).await;
    assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Lines { .. })));
    let told = next(&mut socket).await;
    assert!(matches!(&told, Ok(LiveFrame::Refused { message }) if message.contains("any more")), "{told:?}");
}

#[tokio::test]
async fn what_no_page_of_ours_sends_is_refused_and_the_socket_lives() {
    let world = World::new();
    let mut socket = open(&world).await;
    for bad in [
        "",
        "[]",
        "{\"do\":\"shutdown\"}",
        r#"{"do":"follow","run":"../etc","from":1}"#,
        r#"{"do":"follow","run":"a","from":-1}"#,
    ] {
        say(&mut socket, bad).await;
        assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Refused { .. })), "{bad}");
    }
    for n in 0..8 {
        say(&mut socket, &format!(r#"{{"do":"follow","run":"endless-{n}","from":1}}"#)).await;
        assert!(matches!(next(&mut socket).await, Ok(LiveFrame::Refused { .. })), "there is no such run");
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
    say(&mut his, r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#).await;
    assert_eq!(next(&mut his).await, changed(Topic::Clusters));
}

#[tokio::test]
async fn the_end_of_the_server_closes_sockets_and_waits_for_them() {
    let world = World::new();
    let mut socket = open(&world).await;
    world.web.stop.cancel();
    assert_eq!(next(&mut socket).await, Err(CloseCode::Away));
    world.web.sockets.close();
    timeout(SOON, world.web.sockets.wait()).await.expect("every socket's task ended");
}

#[tokio::test]
async fn the_end_of_the_session_closes_its_sockets() {
    let world = World::new();
    let user = api::User { name: "ann".into(), token: None };
    let soon = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs() + 2;
    let cookie = world.web.sessions.begin(user, Some(soon)).expect("begun");
    let cookie = cookie.to_str().expect("ascii").split(';').next().expect("a pair").to_owned();
    let address = listen(&world).await;
    let mut socket = connect(address, &cookie, &format!("http://{address}")).await.expect("connected");
    assert_eq!(next(&mut socket).await, Ok(LiveFrame::SignedOut));
}
