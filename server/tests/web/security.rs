//! The promises of `docs/security.md`, one test each.

use std::sync::Arc;

use api::{Problem, User};
use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use http::{Method, StatusCode, header};
use kubeonkube::session::Reviewer;
use kubeonkube::web::origin::OurOrigin;

use crate::world::{HOST, ORIGIN, World};

#[tokio::test]
async fn every_address_needs_a_session() {
    let world = World::new();
    for address in world.addresses() {
        let path = address.replace("{name}", "grow").replace("{*file}", "app-1.js").replace("{*function}", "save");
        let got = world.get(&path, "").await;
        match path.as_str() {
            "/healthz" | "/readyz" | "/login" | "/logout" | "/favicon.svg" | "/assets/app-1.js" => {}
            "/live" | "/api/save" => {
                assert_eq!((got.status, got.problem()), (StatusCode::UNAUTHORIZED, Problem::SignedOut), "{path}");
            }
            _ => {
                assert_eq!(got.status, StatusCode::SEE_OTHER, "{path}");
                assert!(got.header(header::LOCATION).starts_with("/login"), "{path}");
            }
        }
    }
    assert!(
        world.get("/nowhere", "").await.header(header::LOCATION).starts_with("/login"),
        "without a session, the response reveals which addresses exist"
    );
}

#[tokio::test]
async fn a_link_is_used_up_by_its_button_only() {
    let world = World::new();
    let token = world.links.make("ann").expect("a link");
    for _ in 0..3 {
        let shown = world.get(&format!("/login?token={token}&next=/clusters/prod"), "").await;
        assert!(shown.text.contains(&format!("valid: Some({token:?})")), "{shown:?}");
        assert_eq!(shown.header(header::SET_COOKIE), "");
    }
    let form = format!("token={token}&next=%2Fclusters%2Fprod");
    let got = world.post("/login", "", form.clone()).await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/clusters/prod"));
    assert!(world.get("/clusters", &got.cookie()).await.text.contains("user ann"));

    let again = world.post("/login", "", form).await;
    assert_eq!((again.status, again.header(header::SET_COOKIE)), (StatusCode::UNPROCESSABLE_ENTITY, ""));
    assert!(again.text.contains("kubeonkube login"), "{again:?}");
    assert!(world.get(&format!("/login?token={token}"), "").await.text.contains("used already"));
}

#[tokio::test]
async fn the_redirect_after_a_link_stays_on_this_site() {
    let world = World::new();
    for next in ["https://evil.example", "//evil.example", "/\\evil.example", "/login"] {
        let token = world.links.make("ann").expect("a link");
        let got = world.post("/login", "", format!("token={token}&next={next}")).await;
        assert_eq!(got.header(header::LOCATION), "/", "{next}");
    }
}

#[tokio::test]
async fn a_link_without_a_page_leads_to_the_page_wanted_before() {
    let world = World::new();
    let asked = world.get("/login?next=%2Foperations%2Fa%3Ftab%3Dhosts", "").await;
    let kept = asked.header(header::SET_COOKIE).split(';').next().unwrap_or_default().to_owned();
    assert!(kept.starts_with("kubeonkube-next="), "{asked:?}");
    let token = world.links.make("ann").expect("a link");
    let opened = world.get(&format!("/login?token={token}"), &kept).await;
    assert!(opened.text.contains("/operations/a?tab=hosts"), "{opened:?}");
    let forged = world.get(&format!("/login?token={token}"), "kubeonkube-next=%2F%2Fevil.example").await;
    assert!(!forged.text.contains("evil.example"), "{forged:?}");
}

struct OneToken;

#[async_trait]
impl Reviewer for OneToken {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        let user = User { name: "ann@example.com".into(), token: Some(token.into()) };
        Ok((token == "kube-token").then_some((user, None)))
    }
}

#[tokio::test]
async fn in_a_cluster_people_sign_in_and_read_with_their_own_token() {
    let world = World::with(OurOrigin::Loopback, Some(Arc::new(OneToken)));
    assert!(world.get("/login", "").await.text.contains("mode: Token"));
    let wrong = world.post("/login", "", "token=guess").await;
    assert_eq!((wrong.status, wrong.header(header::SET_COOKIE)), (StatusCode::UNPROCESSABLE_ENTITY, ""));
    let right = world.post("/login", "", "token=kube-token").await;
    assert!(!right.header(header::SET_COOKIE).contains("kube-token"), "the token must be sealed");
    assert_eq!(world.get("/operations/grow/log.txt", &right.cookie()).await.text, "line 1\nline 2\n");
    assert_eq!(world.fake.asked.lock().expect("no panic")[0].token.as_deref(), Some("kube-token"));
}

#[tokio::test]
async fn sessions_survive_restarts_and_sign_out_revokes_for_good() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let world = world.restarted();
    assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    let out = world.post("/logout", &cookie, "").await;
    assert_eq!((out.status, out.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/login"));
    assert!(out.header(header::SET_COOKIE).contains("Max-Age=0"), "{out:?}");
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER);
    assert_eq!(world.restarted().get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn with_https_the_cookie_is_host_bound_and_secure() {
    let world = World::new();
    let token = world.links.make("ann").expect("a link");
    let got = world.post("/login", "", format!("token={token}")).await;
    let cookie = got.header(header::SET_COOKIE);
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Secure"), "{cookie}");

    let world = World::with(OurOrigin::Public("https://console.example.com".parse().expect("url")), None);
    let token = world.links.make("ann").expect("a link");
    let request = Request::post("/login").header(header::HOST, "console.example.com");
    let request = request.header(header::ORIGIN, "https://console.example.com");
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let got = world.send(request, format!("token={token}")).await;
    let cookie = got.header(header::SET_COOKIE);
    assert!(cookie.starts_with("__Host-") && cookie.contains("Secure") && cookie.contains("Path=/"), "{cookie}");
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert!(got.header(header::STRICT_TRANSPORT_SECURITY).contains("max-age"), "{got:?}");
}

#[tokio::test]
async fn host_and_origin_must_be_ours() {
    let world = World::new();
    let cookie = world.sign_in().await;
    for host in ["evil.example", "127.0.0.1.evil.example:7080"] {
        let request = Request::get("/clusters").header(header::HOST, host).header(header::COOKIE, &cookie);
        let got = world.send(request, Body::empty()).await;
        assert_eq!(got.status, StatusCode::MISDIRECTED_REQUEST, "{got:?}");
        assert!(got.text.contains("--public-url"), "{got:?}");
    }
    let probe = Request::get("/healthz").header(header::HOST, "10.0.0.7:7080");
    assert_eq!(
        world.send(probe, Body::empty()).await.status,
        StatusCode::OK,
        "a kubelet sends the pod's address as Host"
    );
}

#[tokio::test]
async fn malformed_hosts_and_targets_are_bad_requests() {
    let world = World::new();
    let cookie = world.sign_in().await;
    for host in ["127.0.0.1:99999", "localhost:abc", "x:abc", "127.0.0.1:+80", "127.0.0.1:"] {
        for path in ["/clusters", "/login", "/nowhere"] {
            let request = Request::get(path).header(header::HOST, host).header(header::COOKIE, &cookie);
            let got = world.send(request, Body::empty()).await;
            assert_eq!(got.status, StatusCode::BAD_REQUEST, "{host} {path}");
            assert!(got.text.contains("up to 65535"), "{got:?}");
        }
    }
    let twice = Request::get("/clusters").header(header::HOST, HOST).header(header::HOST, "evil.example");
    let got = world.send(twice.header(header::COOKIE, &cookie), Body::empty()).await;
    assert_eq!(got.status, StatusCode::BAD_REQUEST);
    assert!(got.text.contains("more than one Host header"), "{got:?}");
    for target in ["*", "127.0.0.1:7080"] {
        let got = world.send(Request::get(target).header(header::COOKIE, &cookie), Body::empty()).await;
        assert_eq!((got.status, got.text.contains("not a path")), (StatusCode::BAD_REQUEST, true), "{target} {got:?}");
    }
}

#[tokio::test]
async fn every_non_get_request_and_every_upgrade_needs_our_origin() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let foreign = [
        &[][..],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", ORIGIN), ("sec-fetch-site", "cross-site")],
        &[("origin", ORIGIN), ("sec-fetch-site", "same-site")],
    ];
    for address in world.addresses() {
        let path = address.replace("{name}", "grow").replace("{*file}", "app-1.js").replace("{*function}", "save");
        if path.ends_with("z") {
            continue; // the probes
        }
        for headers in foreign {
            let with = |method: Method| {
                let request = Request::builder().method(method).uri(&path).header(header::COOKIE, &cookie);
                let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
            };
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
                let got = world.send(with(method.clone()), "form=save").await;
                assert_eq!(got.status, StatusCode::FORBIDDEN, "{method} {path} {headers:?}");
            }
            let upgrade = with(Method::GET).header(header::CONNECTION, "upgrade").header(header::UPGRADE, "websocket");
            assert_eq!(world.send(upgrade, Body::empty()).await.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
    // A page of another site can't sign its visitor in under another name either.
    let token = world.links.make("mallory").expect("a link");
    let login = Request::post("/login").header(header::ORIGIN, "http://evil.example");
    assert_eq!(world.send(login, format!("token={token}")).await.status, StatusCode::FORBIDDEN);
    assert!(world.links.is_valid(&token), "the refused request used up the link");
}

#[tokio::test]
async fn every_server_function_needs_a_session() {
    let world = World::new();
    for path in ["/api/save", "/api/none", "/api/", "/api/save/more", "/api"] {
        for (method, body) in [(Method::POST, "a=b"), (Method::POST, "{}"), (Method::GET, ""), (Method::PUT, "")] {
            let request = Request::builder().method(method.clone()).uri(path).header(header::ORIGIN, ORIGIN);
            let got = world.send(request, body).await;
            assert_eq!((got.status, got.problem()), (StatusCode::UNAUTHORIZED, Problem::SignedOut), "{method} {path}");
        }
    }
    let cookie = world.sign_in().await;
    assert_eq!(world.post("/api/save", &cookie, "a=b").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_policy_has_this_requests_nonce_and_no_inline_scripts() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let mut nonces = Vec::new();
    for path in ["/clusters", "/nowhere", "/login"] {
        let got = world.get(path, if path == "/login" { "" } else { &cookie }).await;
        let policy = got.header(header::CONTENT_SECURITY_POLICY).to_owned();
        let nonce = got.text.lines().find_map(|line| line.strip_prefix("nonce ")).expect("a nonce").to_owned();
        assert!(policy.contains(&format!("'nonce-{nonce}'")), "{policy}");
        let scripts = policy.split(';').find(|part| part.trim().starts_with("script-src")).expect("a script-src");
        assert!(!scripts.contains("'unsafe-inline'") && !scripts.contains("'unsafe-eval'"), "{scripts}");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("http:") && !policy.contains("https:"), "a third party: {policy}");
        assert_eq!(got.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(got.header(header::CACHE_CONTROL), "no-store");
        nonces.push(nonce);
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 3, "a nonce was used twice");
}

#[tokio::test]
async fn refusals_carry_the_headers_too() {
    let world = World::new();
    for got in [world.get("/api/save", "").await, world.send(Request::get("/").header(header::HOST, "x"), "").await] {
        assert!(got.header(header::CONTENT_SECURITY_POLICY).contains("default-src 'none'"), "{got:?}");
    }
}

#[tokio::test]
async fn hashed_assets_are_immutable_and_need_no_session() {
    let got = World::new().get("/assets/app-1.js", "").await;
    assert_eq!((got.status, got.text.as_str()), (StatusCode::OK, "script"));
    assert!(got.header(header::CACHE_CONTROL).contains("immutable"), "{got:?}");
}

#[tokio::test]
async fn readyz_fails_before_start_up_is_complete_and_after_the_stop() {
    let world = World::new();
    let got = world.get("/readyz", "").await;
    assert_eq!(
        (got.status, got.text.as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "waiting for: clusters and operations\n")
    );
    world.gate.open();
    assert_eq!(world.get("/readyz", "").await.status, StatusCode::OK);
    world.web.stop.cancel();
    assert_eq!(world.get("/readyz", "").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(world.get("/healthz", "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_panic_fails_one_request_only() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let got = world.post("/api/panic", &cookie, "").await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!got.text.contains("on purpose"), "{got:?}");
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_kubeconfig_is_downloaded_by_post_and_never_cached() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let got = world.post("/clusters/prod/kubeconfig", &cookie, "").await;
    assert_eq!((got.status, got.text.as_str()), (StatusCode::OK, "apiVersion: v1\n"));
    assert_eq!(got.header(header::CONTENT_DISPOSITION), "attachment; filename=\"prod.kubeconfig\"");
    assert_eq!(got.header(header::CACHE_CONTROL), "no-store");
    assert_eq!(world.post("/clusters/none/kubeconfig", &cookie, "").await.status, StatusCode::FORBIDDEN);
    assert_eq!(world.post("/clusters/a%22b/kubeconfig", &cookie, "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.get("/clusters/prod/kubeconfig", &cookie).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_log_is_downloaded_as_text_with_a_session() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let got = world.get("/operations/grow/log.txt", &cookie).await;
    assert_eq!(got.text, "line 1\nline 2\n");
    assert_eq!(got.header(header::CONTENT_DISPOSITION), "attachment; filename=\"grow.log\"");
    assert!(got.header(header::CONTENT_TYPE).starts_with("text/plain"));
    for name in ["none", "..%2Fetc", "a%22b"] {
        assert_eq!(
            world.get(&format!("/operations/{name}/log.txt"), &cookie).await.status,
            StatusCode::NOT_FOUND,
            "{name}"
        );
    }
}
