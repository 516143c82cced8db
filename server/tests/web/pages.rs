//! The real pages and server functions behind the real layers.

use axum::extract::Request;
use http::{Method, StatusCode, header};
use kubeonkube::web::assets::Site;
use kubeonkube::web::pages;

use crate::world::{ORIGIN, World};

fn site() -> Site {
    Site::new(|path| {
        let manifest = br#"{"css":"/assets/site-1.css","js":"/assets/app-1.js","wasm":"/assets/app-1.wasm"}"#;
        (path == "manifest.json").then(|| manifest[..].into())
    })
}

pub(crate) fn world() -> World {
    World::with_pages(|backend| pages::console(backend, &site()))
}

/// Every route with its parameters filled in, as GET and POST, and every server function with its method.
fn everything(world: &World) -> Vec<(Method, String)> {
    let fill =
        |address: &str| address.replace("{name}", "grow").replace("{*file}", "app-1.js").replace("{*function}", "none");
    let addresses = world.addresses();
    let pages = addresses.iter().flat_map(|address| [(Method::GET, fill(address)), (Method::POST, fill(address))]);
    pages.chain(server_fn::axum::server_fn_paths().map(|(path, method)| (method, path.to_owned()))).collect()
}

const OPEN: [&str; 8] = [
    "/login",
    "/login/oidc",
    "/login/oidc/callback",
    "/logout",
    "/healthz",
    "/readyz",
    "/favicon.svg",
    "/assets/app-1.js",
];

#[tokio::test]
async fn every_page_and_function_needs_a_session() {
    let world = world();
    let everything = everything(&world);
    assert!(everything.iter().filter(|(_, path)| path.starts_with("/api/")).count() > 10, "{everything:?}");
    for (method, path) in everything.iter().filter(|(_, path)| !OPEN.contains(&path.as_str())) {
        let request = Request::builder().method(method).uri(path).header(header::ORIGIN, ORIGIN);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let got = world.send(request, "").await;
        match path.starts_with("/api/") || path == "/live" {
            true => assert_eq!(got.status, StatusCode::UNAUTHORIZED, "{method} {path}"),
            false => assert!(got.header(header::LOCATION).starts_with("/login"), "{method} {path}: {got:?}"),
        }
    }
    assert!(world.fake.asked.lock().expect("no panic").is_empty(), "a request without a session reached the backend");
}

#[tokio::test]
async fn every_page_and_function_refuses_a_foreign_origin() {
    let world = world();
    let cookie = world.sign_in().await;
    let probes = |path: &str| path.ends_with('z');
    for (method, path) in everything(&world).iter().filter(|(method, path)| *method != Method::GET && !probes(path)) {
        let request = Request::builder().method(method).uri(path).header(header::COOKIE, &cookie);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let got = world.send(request.header(header::ORIGIN, "http://evil.example"), "").await;
        assert_eq!(got.status, StatusCode::FORBIDDEN, "{method} {path}");
    }
}

#[tokio::test]
async fn server_functions_are_under_api_and_use_get_or_post() {
    drop(world());
    for (path, method) in server_fn::axum::server_fn_paths() {
        assert!(path.starts_with("/api/"), "{path}");
        assert!([Method::GET, Method::POST].contains(&method), "{method} {path}");
    }
}

#[tokio::test]
async fn every_page_answers_a_signed_in_user() {
    let world = world();
    let cookie = world.sign_in().await;
    for address in &world.web.pages.addresses {
        let path = address.replace("{name}", "grow");
        let got = world.get(&path, &cookie).await;
        if got.status.is_redirection() {
            continue;
        }
        assert!(got.text.starts_with("<!DOCTYPE html>"), "{path}: {got:?}");
        let policy = got.header(header::CONTENT_SECURITY_POLICY);
        assert!(!policy.is_empty() && !policy.contains("unsafe-inline"), "{path}: {policy}");
        assert!(!got.text.contains(" style="), "{path}: the policy forbids style attributes");
    }
}

#[tokio::test]
async fn data_has_no_headers_of_documents() {
    let world = world();
    let cookie = world.sign_in().await;
    let data = world.get("/api/load_lines?name=grow&from=1&count=2", &cookie).await;
    assert_eq!((data.status, data.header(header::CONTENT_TYPE)), (StatusCode::OK, "application/json"));
    for of_documents in ["content-security-policy", "x-frame-options", "referrer-policy", "permissions-policy"] {
        assert_eq!(data.header(of_documents), "", "{of_documents}");
    }
    assert_eq!(data.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert_eq!(data.header(header::CACHE_CONTROL), "no-store");
}

#[tokio::test]
async fn the_boot_script_has_this_requests_nonce() {
    let world = world();
    let got = world.get("/login", "").await;
    assert_eq!(got.status, StatusCode::OK);
    let policy = got.header(header::CONTENT_SECURITY_POLICY).to_owned();
    let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).expect("a nonce");
    for script in got.text.split("<script").skip(1) {
        let tag = script.split('>').next().expect("a tag");
        assert!(tag.contains(&format!("nonce=\"{nonce}\"")), "a script without this request's nonce: {tag}");
    }
    assert!(got.text.contains("/assets/app-1.js"), "{got:?}");
    assert!(!got.text.contains("onclick=") && !got.text.contains("javascript:"), "{got:?}");
}

#[tokio::test]
async fn the_sign_in_page_shows_a_button_only_for_a_valid_link() {
    let world = world();
    let token = world.links.make("ann").expect("a link");
    let good = world.get(&format!("/login?token={token}&next=/operations"), "").await;
    assert!(good.text.contains("<button") && good.text.contains(&format!("value=\"{token}\"")), "{good:?}");
    assert!(good.text.contains("value=\"/operations\""), "the page to return to is lost: {good:?}");
    let bad = world.get("/login?token=x", "").await;
    assert!(bad.text.contains("kubeonkube login") && bad.text.contains("used already"), "{bad:?}");
}

#[tokio::test]
async fn an_unknown_address_is_a_page_with_status_404() {
    let world = world();
    let cookie = world.sign_in().await;
    let got = world.get("/nowhere/at/all", &cookie).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert!(got.text.contains("Page not found"), "{got:?}");
    let got = world.post("/api/nothing", &cookie, "").await;
    assert_eq!((got.status, got.problem().status()), (StatusCode::NOT_FOUND, 404));
}

#[tokio::test]
async fn a_refused_registration_keeps_all_fields_except_the_key() {
    let world = world();
    let cookie = world.sign_in().await;
    let pasted = "node1 10.0.0.1 <&>\r\n".repeat(10_000);
    let fields = [
        ("form", "register_cluster"),
        ("name", "Bad Name"),
        ("pasted", &pasted),
        ("ssh", "paste"),
        ("ssh_key", "KEY-MATERIAL"),
    ];
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let got = world.post("/clusters/_new", &cookie, body).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", &got.text[..got.text.len().min(3000)]);
    assert!(got.text.contains("Bad Name"), "the name is lost");
    assert!(
        got.text.contains("this name can&#x27;t be used") || got.text.contains("this name can't be used"),
        "the reason is missing"
    );
    assert_eq!(
        got.text.matches("node1 10.0.0.1 &lt;&amp;&gt;").count(),
        10_000,
        "the textarea differs from what was typed"
    );
    assert!(!got.text.contains("KEY-MATERIAL"), "the response contains the key");
}

#[tokio::test]
async fn a_review_is_shown_and_changes_nothing() {
    let world = world();
    let cookie = world.sign_in().await;
    let got =
        world.post("/clusters/_new", &cookie, "form=review_cluster&name=prod&pasted=node1+10.0.0.1&ssh=none").await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(got.text.contains("# the inventory of prod"), "the review is missing");
    assert!(got.text.contains("node1 10.0.0.1"), "the typed text is lost");
}

#[tokio::test]
async fn a_mutation_of_a_real_page_redirects_and_sets_its_cookie() {
    let world = world();
    let cookie = world.sign_in().await;
    let got = world.post("/settings", &cookie, "form=set_theme&theme=dark&next=%2Fsettings").await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/settings"));
    assert!(got.cookie().starts_with("theme=dark"), "{got:?}");
}

#[tokio::test]
async fn a_site_that_was_not_built_is_reported() {
    let world = World::with_pages(|backend| pages::console(backend, &Site::new(|_| None)));
    let got = world.get("/login", "").await;
    assert_eq!(got.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(got.text.contains("cargo xtask run"), "{got:?}");
}

/// `World::send` fails the test if a request panics.
#[tokio::test]
async fn no_host_target_or_scheme_makes_a_page_panic() {
    let world = world();
    let cookie = world.sign_in().await;
    let hosts = ["127.0.0.1:99999", "localhost:abc", "[::1]:7080", "[127.0.0.1]", "[localhost]:80", "127.0.0.1:+1"];
    let schemes = ["https", "file", "http://a:99999/", "x y", ""];
    let targets = ["/login", "*", "file://localhost:80/login", "http://127.0.0.1:99999/login", "localhost:80"];
    for (host, scheme, target) in hosts
        .iter()
        .flat_map(|host| schemes.map(|scheme| (*host, scheme)))
        .flat_map(|(host, scheme)| targets.map(|target| (host, scheme, target)))
    {
        for cookie in ["", cookie.as_str()] {
            let request = Request::get(target).header(header::HOST, host).header("x-forwarded-proto", scheme);
            let got = world.send(request.header(header::COOKIE, cookie), "").await;
            assert!(got.status.as_u16() < 500, "{host} {scheme} {target}: {got:?}");
        }
    }
}

/// A page at `/clusters/new` would hide the cluster `new`.
#[tokio::test]
async fn no_page_has_the_address_of_an_object() {
    let addresses = world().addresses();
    let mut checked = 0;
    for address in &addresses {
        if let ["", "clusters" | "operations", page, ..] = address.split('/').collect::<Vec<_>>()[..]
            && !page.starts_with('{')
        {
            assert!(
                page.parse::<api::ClusterName>().is_err() && page.parse::<api::OperationName>().is_err(),
                "{address}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 2, "{addresses:?}");
}
