//! Which answers are compressed, and that decompressing them gives what an uncompressed answer contains.

use std::io::Read;

use axum::body::Body;
use axum::extract::Request;
use http::{StatusCode, header};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::pages::world;
use crate::world::{HOST, World};

struct Answer {
    encoding: String,
    vary: String,
    bytes: Vec<u8>,
}

async fn get(world: &World, cookie: &str, path: &str, accepted: &str) -> Answer {
    let request = Request::get(path).header(header::HOST, HOST).header(header::COOKIE, cookie);
    let request = request.header(header::ACCEPT_ENCODING, accepted).body(Body::empty()).expect("a request");
    let response = world.router.clone().oneshot(request).await.expect("a response");
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    let header = |name| response.headers().get(name).map_or("", |value| value.to_str().expect("ascii")).to_owned();
    let (encoding, vary) = (header(header::CONTENT_ENCODING), header(header::VARY));
    let bytes = response.into_body().collect().await.expect("the body").to_bytes().to_vec();
    Answer { encoding, vary, bytes }
}

fn decompressed(answer: &Answer) -> Vec<u8> {
    let mut plain = Vec::new();
    match answer.encoding.as_str() {
        "br" => drop(brotli::Decompressor::new(&answer.bytes[..], 4096).read_to_end(&mut plain).expect("Brotli")),
        "gzip" => drop(flate2::read::GzDecoder::new(&answer.bytes[..]).read_to_end(&mut plain).expect("gzip")),
        other => panic!("compressed as {other:?}"),
    }
    plain
}

#[tokio::test]
async fn pages_and_data_are_compressed_as_the_browser_accepts() {
    let world = world();
    let cookie = world.sign_in().await;
    let data = "/api/load_lines?name=grow&from=1&count=200";
    for path in ["/settings", data] {
        let plain = get(&world, &cookie, path, "identity").await;
        assert_eq!(plain.encoding, "", "{path}");
        for (accepted, encoding) in [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip")] {
            let answer = get(&world, &cookie, path, accepted).await;
            assert_eq!((&*answer.encoding, &*answer.vary), (encoding, "accept-encoding"), "{path} {accepted}");
            assert!(answer.bytes.len() * 2 < plain.bytes.len(), "{path}: {} bytes", answer.bytes.len());
            let text = decompressed(&answer);
            // Each page has its own nonce, which always has the same length.
            assert_eq!(text.len(), plain.bytes.len(), "{path}");
            assert!(path != data || text == plain.bytes, "{path}");
        }
    }
}

#[tokio::test]
async fn files_downloads_and_short_answers_are_sent_as_they_are() {
    let world = world();
    let cookie = world.sign_in().await;
    for path in ["/operations/grow/log.txt", "/assets/app-1.js", "/healthz", "/api/load_lines?name=grow&from=1&count=1"]
    {
        assert_eq!(get(&world, &cookie, path, "gzip, br").await.encoding, "", "{path}");
    }
}
