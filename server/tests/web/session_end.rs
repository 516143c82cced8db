//! What ends with a session, and what ends a session. Time is tokio's and jumps where nothing else happens.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use api::{Problem, User, live::LiveFrame};
use async_trait::async_trait;
use axum::{body::Body, extract::Request};
use futures::StreamExt;
use http::{StatusCode, header};
use http_body_util::{BodyExt, BodyStream};
use kubeonkube::{
    guard::same_origin::OurOrigin,
    session::{LASTS, Reviewer, taken_back::BELIEVED},
};
use tokio::time::{Instant, advance, pause, timeout};
use tokio_tungstenite::tungstenite::Message;
use tower::ServiceExt;

use crate::{
    live::{Socket, connect, listen, open},
    world::{HOST, World},
};

/// What the cluster says of the one token there is.
#[derive(Default)]
struct Cluster {
    says: Mutex<Word>,
    asked: AtomicUsize,
}

#[derive(Default, Clone, Copy)]
enum Word {
    #[default]
    Accepted,
    TakenBack,
    /// It can't be reached.
    Nothing,
    /// It takes the question and never answers.
    Silence,
}

impl Cluster {
    fn now_says(&self, word: Word) {
        *self.says.lock().expect("no panic") = word;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Reviewer for Cluster {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let word = *self.says.lock().expect("no panic");
        match word {
            Word::Accepted => Ok(Some((User { name: "ann".into(), token: Some(token.into()) }, None))),
            Word::TakenBack => Ok(None),
            Word::Nothing => Err(Problem::Unavailable { message: "The cluster did not answer.".into() }),
            Word::Silence => std::future::pending().await,
        }
    }
}

/// A console in a cluster, and the cookie of somebody who signed in with a token.
async fn in_a_cluster() -> (World, Arc<Cluster>, String) {
    let cluster = Arc::new(Cluster::default());
    let world = World::with(OurOrigin::Loopback, Some(cluster.clone()));
    let cookie = world.post("/login", "", "token=kube-token").await.cookie();
    assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    (world, cluster, cookie)
}

/// What the socket is told next; None when it was closed.
async fn hear(socket: &mut Socket) -> Option<LiveFrame> {
    match timeout(LASTS, socket.next()).await.expect("in time")?.expect("open") {
        Message::Text(text) => Some(serde_json::from_str(&text).expect("a frame")),
        _ => None,
    }
}

/// The download of a run that goes on, after its first line.
async fn download(world: &World, cookie: &str) -> BodyStream<Body> {
    let request = Request::get("/operations/endless/log.txt").header(header::HOST, HOST).header(header::COOKIE, cookie);
    let response =
        world.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("answers");
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let first = body.frame().await.expect("open").expect("read").into_data().expect("bytes");
    assert_eq!(&first[..], b"line 1\n");
    BodyStream::new(body)
}

/// Whether a download was cut, with a line that says so, and not at the end of the test's patience.
async fn is_cut(log: &mut BodyStream<Body>) -> bool {
    let Ok(Some(Ok(last))) = timeout(2 * LASTS, log.next()).await else { return false };
    let last = last.into_data().expect("bytes");
    let broken_off = matches!(timeout(LASTS, log.next()).await, Ok(Some(Err(_))));
    last.starts_with(b"\n[This download was cut here") && broken_off
}

#[tokio::test]
async fn a_session_of_one_way_in_is_none_of_the_other() {
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
    assert_eq!(world.get("/login", &link).await.status, StatusCode::OK, "the way in leads back out");
}

#[tokio::test]
async fn a_log_download_is_cut_at_sign_out() {
    let world = World::new();
    let (ann, bob) = (world.sign_in().await, world.sign_in().await);
    let (mut hers, mut his) = (download(&world, &ann).await, download(&world, &bob).await);
    assert!(futures::poll!(hers.next()).is_pending(), "the run goes on");
    world.post("/logout", &ann, "").await;
    // From here on only time passes: nothing else would end it.
    pause();
    let then = Instant::now();
    assert!(is_cut(&mut hers).await && then.elapsed() < BELIEVED, "the log went on after sign-out");
    assert!(futures::poll!(his.next()).is_pending(), "another session's download was cut too");
}

#[tokio::test]
async fn a_download_ends_with_the_session_and_with_the_server() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let mut first = download(&world, &cookie).await;
    let mut second = download(&world, &cookie).await;
    pause();
    let begun = Instant::now();
    assert!(is_cut(&mut first).await);
    let lasted = begun.elapsed();
    assert!((LASTS.as_secs() - 60..=LASTS.as_secs()).contains(&lasted.as_secs()), "it ended after {lasted:?}");
    assert!(is_cut(&mut second).await);

    let cookie = world.sign_in().await;
    let mut third = download(&world, &cookie).await;
    let then = Instant::now();
    world.web.stop.cancel();
    assert!(is_cut(&mut third).await && then.elapsed() < BELIEVED);
}

#[tokio::test]
async fn a_silent_socket_beats_every_20_seconds() {
    let world = World::new();
    let mut socket = open(&world).await;
    pause();
    let begun = Instant::now();
    assert_eq!(hear(&mut socket).await, Some(LiveFrame::Beat));
    assert!(begun.elapsed().as_secs() <= 20, "the first came after {:?}", begun.elapsed());
    for _ in 0..5 {
        let last = Instant::now();
        assert_eq!(hear(&mut socket).await, Some(LiveFrame::Beat));
        assert_eq!(last.elapsed().as_secs(), 20);
    }
}

#[tokio::test]
async fn a_token_that_was_taken_back_ends_the_session_within_30_seconds() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    cluster.now_says(Word::TakenBack);
    advance(BELIEVED).await;
    let got = world.get("/clusters", &cookie).await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/login?ended&next=%2Fclusters"));
    assert_eq!(world.get("/api/save", &cookie).await.problem(), Problem::SignedOut);
    assert!(world.get("/login", &cookie).await.text.contains("mode: Token"), "the way in must be open again");
    cluster.now_says(Word::Accepted);
    advance(BELIEVED).await;
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER, "an ended session came back");
}

#[tokio::test]
async fn open_sockets_and_downloads_end_with_a_token_that_was_taken_back() {
    let (world, cluster, cookie) = in_a_cluster().await;
    let address = listen(&world).await;
    let mut socket = connect(address, &cookie, &format!("http://{address}")).await.expect("connected");
    let mut log = download(&world, &cookie).await;
    pause();
    let begun = Instant::now();
    cluster.now_says(Word::TakenBack);
    assert!(is_cut(&mut log).await);
    loop {
        match hear(&mut socket).await {
            Some(LiveFrame::Beat) => {}
            Some(LiveFrame::SignedOut) => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(begun.elapsed() <= BELIEVED, "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn what_was_opened_on_an_old_word_ends_with_the_next_one() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK);
    advance(BELIEVED - Duration::from_secs(1)).await;
    let mut log = download(&world, &cookie).await;
    let begun = Instant::now();
    cluster.now_says(Word::TakenBack);
    assert!(is_cut(&mut log).await);
    // A second, and what timers round up.
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_is_asked_again() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    advance(BELIEVED).await;
    let before = cluster.asked();
    cluster.now_says(Word::Silence);
    let asks = world.get("/clusters", &cookie);
    assert!(timeout(Duration::from_secs(1), asks).await.is_err(), "the cluster takes its time");
    cluster.now_says(Word::TakenBack);
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER);
    assert_eq!(cluster.asked() - before, 2);
}

#[tokio::test]
async fn the_cluster_is_asked_about_a_token_once_in_30_seconds() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    let before = cluster.asked();
    for _ in 0..5 {
        for _ in 0..20 {
            assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK);
        }
        advance(BELIEVED).await;
    }
    assert!(cluster.asked() - before <= 5, "asked {} times in 150 seconds", cluster.asked() - before);
}

#[tokio::test]
async fn what_is_the_same_for_everybody_asks_about_nobody() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    advance(BELIEVED).await;
    let before = cluster.asked();
    for path in ["/assets/app-1.js", "/healthz", "/readyz", "/favicon.svg"] {
        world.get(path, &cookie).await;
    }
    assert_eq!(cluster.asked(), before);
}

#[tokio::test]
async fn a_refusal_of_the_token_is_not_believed_away_for_30_seconds() {
    let (world, cluster, cookie) = in_a_cluster().await;
    cluster.now_says(Word::TakenBack);
    assert_eq!(world.post("/api/refused", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    // Else the sign-in page would send them back to the page that sends them to it.
    assert!(world.get("/login", &cookie).await.text.contains("mode: Token"));
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_signs_nobody_out() {
    let (world, cluster, cookie) = in_a_cluster().await;
    pause();
    for word in [Word::Nothing, Word::Silence] {
        cluster.now_says(word);
        advance(BELIEVED).await;
        assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    }
}
