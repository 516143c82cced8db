//! What ends a session, and what ends with it. Time is tokio's paused clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::live::LiveFrame;
use api::{Problem, User};
use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use futures::StreamExt;
use http::{StatusCode, header};
use http_body_util::{BodyExt, BodyStream};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use kubeonkube::session::{LASTS, RECHECK_AFTER, Reviewer};
use kubeonkube::web::origin::OurOrigin;
use tokio::io::{DuplexStream, duplex};
use tokio::time::{Instant, advance, pause, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};
use tower::ServiceExt;

use crate::world::{HOST, ORIGIN, World};

type Socket = WebSocketStream<DuplexStream>;

/// A cluster with one token.
#[derive(Default)]
struct Cluster {
    answer: Mutex<Answer>,
    asked: AtomicUsize,
}

#[derive(Default, Clone, Copy)]
enum Answer {
    #[default]
    Accepted,
    Revoked,
    /// It can't be reached.
    Unavailable,
    /// It accepts the request and never answers.
    None,
}

impl Cluster {
    fn now_answers(&self, answer: Answer) {
        *self.answer.lock().expect("no panic") = answer;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Reviewer for Cluster {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = *self.answer.lock().expect("no panic");
        match answer {
            Answer::Accepted => Ok(Some((User { name: "ann".into(), token: Some(token.into()) }, None))),
            Answer::Revoked => Ok(None),
            Answer::Unavailable => Err(Problem::Unavailable { message: "The cluster did not answer.".into() }),
            Answer::None => std::future::pending().await,
        }
    }
}

/// A console in a cluster, and the cookie of a user who signed in with a token.
async fn in_a_cluster() -> (World, Arc<Cluster>, String) {
    let cluster = Arc::new(Cluster::default());
    let world = World::with(OurOrigin::Loopback, Some(cluster.clone()));
    let cookie = world.post("/login", "", "token=kube-token").await.cookie();
    assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    (world, cluster, cookie)
}

/// A live socket over a pipe in memory. Over TCP, the paused clock would jump to the next timer while data is still on its way
/// (<https://github.com/tokio-rs/tokio/issues/4522>).
async fn connect(world: &World, cookie: &str) -> Socket {
    let (ours, theirs) = duplex(64 * 1024);
    let router = TowerToHyperService::new(world.router.clone());
    tokio::spawn(async move {
        Builder::new(TokioExecutor::new()).serve_connection_with_upgrades(TokioIo::new(theirs), router).await
    });
    let mut request = format!("ws://{HOST}/live").into_client_request().expect("a request");
    request.headers_mut().insert(header::COOKIE, cookie.parse().expect("ascii"));
    request.headers_mut().insert(header::ORIGIN, ORIGIN.parse().expect("ascii"));
    client_async(request, ours).await.expect("connected").0
}

/// The next frame. `None` if the socket was closed.
async fn receive(socket: &mut Socket) -> Option<LiveFrame> {
    match timeout(LASTS, socket.next()).await.expect("in time")?.expect("open") {
        Message::Text(text) => Some(serde_json::from_str(&text).expect("a frame")),
        _ => None,
    }
}

/// The download of a running run, after its first line.
async fn download(world: &World, cookie: &str) -> BodyStream<Body> {
    let request = Request::get("/operations/endless/log.txt").header(header::HOST, HOST).header(header::COOKIE, cookie);
    let response =
        world.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("a response");
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let first = body.frame().await.expect("open").expect("read").into_data().expect("bytes");
    assert_eq!(&first[..], b"line 1\n");
    BodyStream::new(body)
}

/// Whether the download ends early: with the line that says so and a failed transfer, before the timeout.
async fn is_cut(log: &mut BodyStream<Body>) -> bool {
    let Ok(Some(Ok(last))) = timeout(2 * LASTS, log.next()).await else { return false };
    let last = last.into_data().expect("bytes");
    let failed = matches!(timeout(LASTS, log.next()).await, Ok(Some(Err(_))));
    last.starts_with(b"\n[This download was cut here") && failed
}

#[tokio::test]
async fn a_session_of_one_sign_in_method_is_rejected_by_the_other() {
    let (world, cluster, token) = in_a_cluster().await;
    let world = world.restarted();
    assert_eq!(
        world.get("/clusters", &token).await.status,
        StatusCode::SEE_OTHER,
        "a token opened a standalone console"
    );
    let link = world.sign_in().await;
    assert_eq!(world.get("/clusters", &link).await.status, StatusCode::OK);
    let world = world.restarted_with(Some(cluster));
    assert_eq!(world.get("/clusters", &link).await.status, StatusCode::SEE_OTHER);
    assert_eq!(world.get("/login", &link).await.status, StatusCode::OK, "the sign-in page redirects away");
}

#[tokio::test]
async fn a_log_download_is_cut_at_sign_out() {
    let world = World::new();
    let (ann, bob) = (world.sign_in().await, world.sign_in().await);
    let (mut hers, mut his) = (download(&world, &ann).await, download(&world, &bob).await);
    assert!(futures::poll!(hers.next()).is_pending(), "the run continues");
    world.post("/logout", &ann, "").await;
    // From here on, only the paused clock could end the downloads.
    pause();
    let then = Instant::now();
    assert!(is_cut(&mut hers).await && then.elapsed() < RECHECK_AFTER, "the download continued after sign-out");
    assert!(futures::poll!(his.next()).is_pending(), "another session's download was cut too");
}

#[tokio::test]
async fn a_download_ends_with_the_session_and_with_the_server() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let mut first = download(&world, &cookie).await;
    let mut second = download(&world, &cookie).await;
    pause();
    let started = Instant::now();
    assert!(is_cut(&mut first).await);
    let lasted = started.elapsed();
    assert!((LASTS.as_secs() - 60..=LASTS.as_secs()).contains(&lasted.as_secs()), "it ended after {lasted:?}");
    assert!(is_cut(&mut second).await);

    let cookie = world.sign_in().await;
    let mut third = download(&world, &cookie).await;
    let then = Instant::now();
    world.web.stop.cancel();
    assert!(is_cut(&mut third).await && then.elapsed() < RECHECK_AFTER);
}

#[tokio::test]
async fn a_silent_socket_gets_a_heartbeat_every_20_seconds() {
    let world = World::new();
    let mut socket = connect(&world, &world.sign_in().await).await;
    pause();
    let started = Instant::now();
    assert_eq!(receive(&mut socket).await, Some(LiveFrame::Beat));
    assert!(started.elapsed().as_secs() <= 20, "the first came after {:?}", started.elapsed());
    for _ in 0..5 {
        let last = Instant::now();
        assert_eq!(receive(&mut socket).await, Some(LiveFrame::Beat));
        assert_eq!(last.elapsed().as_secs(), 20);
    }
}

#[tokio::test]
async fn a_revoked_token_ends_the_session_within_30_seconds() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    cluster.now_answers(Answer::Revoked);
    advance(RECHECK_AFTER).await;
    let got = world.get("/clusters", &cookie).await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/login?ended&next=%2Fclusters"));
    assert_eq!(world.get("/api/save", &cookie).await.problem(), Problem::SignedOut);
    assert!(world.get("/login", &cookie).await.text.contains("mode: Token"), "the sign-in page must be shown");
    cluster.now_answers(Answer::Accepted);
    advance(RECHECK_AFTER).await;
    assert_eq!(
        world.get("/clusters", &cookie).await.status,
        StatusCode::SEE_OTHER,
        "an ended session was accepted again"
    );
}

#[tokio::test]
async fn sockets_and_downloads_end_when_the_token_is_revoked() {
    let (world, cluster, cookie) = in_a_cluster().await;
    let mut socket = connect(&world, &cookie).await;
    let mut log = download(&world, &cookie).await;
    pause();
    let started = Instant::now();
    cluster.now_answers(Answer::Revoked);
    assert!(is_cut(&mut log).await);
    loop {
        match receive(&mut socket).await {
            Some(LiveFrame::Beat) => {}
            Some(LiveFrame::SignedOut) => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(started.elapsed() <= RECHECK_AFTER, "it took {:?}", started.elapsed());
}

#[tokio::test]
async fn a_download_started_between_checks_ends_at_the_next_one() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK);
    advance(RECHECK_AFTER - Duration::from_secs(1)).await;
    let mut log = download(&world, &cookie).await;
    let started = Instant::now();
    cluster.now_answers(Answer::Revoked);
    assert!(is_cut(&mut log).await);
    // One second, plus what timers round up.
    assert!(started.elapsed() < Duration::from_secs(2), "it took {:?}", started.elapsed());
}

#[tokio::test]
async fn a_dropped_token_check_is_repeated() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    advance(RECHECK_AFTER).await;
    let before = cluster.asked();
    cluster.now_answers(Answer::None);
    let asks = world.get("/clusters", &cookie);
    assert!(timeout(Duration::from_secs(1), asks).await.is_err(), "the cluster doesn't answer");
    cluster.now_answers(Answer::Revoked);
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER);
    assert_eq!(cluster.asked() - before, 2);
}

#[tokio::test]
async fn a_token_is_checked_once_in_30_seconds() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    let before = cluster.asked();
    for _ in 0..5 {
        for _ in 0..20 {
            assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK);
        }
        advance(RECHECK_AFTER).await;
    }
    assert!(cluster.asked() - before <= 5, "asked {} times in 150 seconds", cluster.asked() - before);
}

#[tokio::test]
async fn public_addresses_check_no_token() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    advance(RECHECK_AFTER).await;
    let before = cluster.asked();
    for path in ["/assets/app-1.js", "/healthz", "/readyz", "/favicon.svg"] {
        world.get(path, &cookie).await;
    }
    assert_eq!(cluster.asked(), before);
}

#[tokio::test]
async fn a_refused_token_is_checked_again_at_once() {
    let (world, cluster, cookie) = in_a_cluster().await;
    cluster.now_answers(Answer::Revoked);
    assert_eq!(world.post("/api/refused", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    // Otherwise the sign-in page and the refused page would redirect to each other.
    assert!(world.get("/login", &cookie).await.text.contains("mode: Token"));
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_ends_no_session() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    for answer in [Answer::Unavailable, Answer::None] {
        cluster.now_answers(answer);
        advance(RECHECK_AFTER).await;
        assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    }
}
