//! A log download that is complete, and one that is cut before the end of the log.

use axum::body::Body;
use axum::extract::Request;
use futures::StreamExt;
use http::header;
use tower::ServiceExt;

use crate::world::{HOST, World};

/// The received text, and whether the transfer was complete. `meanwhile` runs after the first part.
async fn download(world: &World, run: &str, meanwhile: impl FnOnce()) -> (String, bool) {
    let cookie = world.sign_in().await;
    let request = Request::get(format!("/operations/{run}/log.txt")).header(header::COOKIE, cookie);
    let request = request.header(header::HOST, HOST).body(Body::empty()).expect("a request");
    let mut parts = world.router.clone().oneshot(request).await.expect("a response").into_body().into_data_stream();
    let mut text = parts.next().await.expect("a first part").expect("no error").to_vec();
    meanwhile();
    while let Some(part) = parts.next().await {
        match part {
            Ok(part) => text.extend(part),
            Err(_) => return (String::from_utf8(text).expect("text"), false),
        }
    }
    (String::from_utf8(text).expect("text"), true)
}

#[tokio::test]
async fn a_cut_download_says_so_and_is_an_incomplete_transfer() {
    let world = World::new();
    let (text, whole) = download(&world, "hiccup", || ()).await;
    assert!(!whole && text.starts_with("line 1\n\n[This download was cut here"), "{text}");
    let (text, whole) = download(&world, "endless", || world.web.stop.cancel()).await;
    assert!(!whole && text.contains("The server was stopped."), "{text}");
}

#[tokio::test]
async fn a_complete_download_ends_with_its_last_line() {
    assert_eq!(download(&World::new(), "grow", || ()).await, ("line 1\nline 2\n".into(), true));
}
