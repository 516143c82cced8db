//! Behind a proxy, with `--public-url https://…`: one host name, one origin.

use axum::body::Body;
use axum::extract::Request;
use http::{Method, StatusCode, header};
use kubeonkube::web::origin::OurOrigin;

use crate::world::{Got, ORIGIN, World};

const NAME: &str = "console.example.com";
const OURS: &str = "https://console.example.com";

/// A console at that address, and the cookie of a signed-in user.
async fn world() -> (World, String) {
    let world = World::with(OurOrigin::Public(OURS.parse().expect("url")), None);
    let token = world.links.make("ann").expect("a link");
    let got = ask(&world, &Method::POST, "/login", "", NAME, &[("origin", OURS)], format!("token={token}")).await;
    assert_eq!(got.status, StatusCode::SEE_OTHER, "{got:?}");
    let cookie = got.cookie();
    (world, cookie)
}

async fn ask(
    world: &World,
    method: &Method,
    path: &str,
    cookie: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Got {
    let request = Request::builder().method(method).uri(path).header(header::HOST, host).header(header::COOKIE, cookie);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    world.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)), body).await
}

#[tokio::test]
async fn other_host_names_are_refused_even_for_reading() {
    let (world, cookie) = world().await;
    let ok = ask(&world, &Method::GET, "/clusters", &cookie, NAME, &[], "").await;
    assert!(ok.text.contains("user ann"), "{ok:?}");
    let foreign = ["evil.example", "127.0.0.1:7080", "localhost", "console.example.com.evil.example", "example.com"];
    for host in foreign.into_iter().chain(["console.example.com:8443", "ann@console.example.com", ""]) {
        for path in ["/clusters", "/login", "/api/save", "/live", "/assets/app-1.js", "/operations/grow/log.txt"] {
            let got = ask(&world, &Method::GET, path, &cookie, host, &[], "").await;
            assert_eq!(got.status, StatusCode::MISDIRECTED_REQUEST, "{host:?} {path}");
        }
        // With the right Origin, too.
        let got = ask(&world, &Method::POST, "/api/save", &cookie, host, &[("origin", OURS)], "").await;
        assert_eq!(got.status, StatusCode::MISDIRECTED_REQUEST, "{host:?}");
    }
}

#[tokio::test]
async fn no_other_origin_changes_anything_or_opens_a_socket() {
    let (world, cookie) = world().await;
    let ok = ask(&world, &Method::POST, "/api/save", &cookie, NAME, &[("origin", OURS)], "").await;
    assert_eq!(ok.status, StatusCode::OK, "{ok:?}");
    let upgrade = [("connection", "upgrade"), ("upgrade", "websocket")];
    let foreign = [
        // The same host without TLS is another origin: a man in the middle could have sent that page.
        "http://console.example.com",
        "https://console.example.com:8443",
        "https://evil.example",
        "https://console.example.com.evil.example",
        ORIGIN,
        "null",
    ];
    for origin in foreign {
        let headers = [("origin", origin), ("sec-fetch-site", "same-origin")];
        for address in world.addresses().iter().filter(|address| !address.ends_with('z')) {
            let path = address.replace("{name}", "grow").replace("{*file}", "app-1.js").replace("{*function}", "save");
            let got = ask(&world, &Method::POST, &path, &cookie, NAME, &headers, "form=save").await;
            assert_eq!(got.status, StatusCode::FORBIDDEN, "{origin} {path}");
        }
        let headers = [upgrade[0], upgrade[1], headers[0]];
        let got = ask(&world, &Method::GET, "/live", &cookie, NAME, &headers, "").await;
        assert_eq!(got.status, StatusCode::FORBIDDEN, "{origin}");
    }
}

/// Browsers from before 2023 don't send `Sec-Fetch-Site`, and no browser sends it over plain http beyond loopback. All send
/// `Origin`.
#[tokio::test]
async fn without_sec_fetch_site_the_origin_decides() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let host = ORIGIN.trim_start_matches("http://");
    let foreign = [("origin", "http://evil.example")];
    let contradicted = [("origin", ORIGIN), ("sec-fetch-site", "cross-site")];
    let alone = [("sec-fetch-site", "same-origin")];
    for (headers, status) in [
        (&[("origin", ORIGIN)][..], StatusCode::OK),
        (&[("origin", ORIGIN), ("sec-fetch-site", "same-origin")], StatusCode::OK),
        (&foreign, StatusCode::FORBIDDEN),
        (&contradicted, StatusCode::FORBIDDEN),
        (&alone, StatusCode::FORBIDDEN),
        (&[], StatusCode::FORBIDDEN),
    ] {
        let got = ask(&world, &Method::POST, "/api/save", &cookie, host, headers, "").await;
        assert_eq!(got.status, status, "{headers:?}");
    }
}
