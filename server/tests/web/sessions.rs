//! What a person sees when the session ends during work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use api::{Problem, User};
use async_trait::async_trait;
use http::{StatusCode, header};
use kubeonkube::session::Reviewer;
use kubeonkube::web::assets::Site;
use kubeonkube::web::origin::OurOrigin;
use kubeonkube::web::pages;

use crate::world::World;

/// A cluster that accepts one token until it is revoked.
#[derive(Default)]
struct Cluster {
    revoked: AtomicBool,
    silent: AtomicBool,
}

#[async_trait]
impl Reviewer for Cluster {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        if self.silent.load(Ordering::Relaxed) {
            return Err(Problem::Unavailable { message: "The cluster did not answer.".into() });
        }
        let user = User { name: "ann".into(), token: Some(token.into()) };
        Ok((token == "kube-token" && !self.revoked.load(Ordering::Relaxed)).then_some((user, None)))
    }
}

async fn signed_in() -> (World, Arc<Cluster>, String) {
    let cluster = Arc::new(Cluster::default());
    let world = World::with(OurOrigin::Loopback, Some(cluster.clone()));
    let cookie = world.post("/login", "", "token=kube-token").await.cookie();
    (world, cluster, cookie)
}

#[tokio::test]
async fn a_revoked_token_leads_to_sign_in_without_a_redirect_loop() {
    let (world, cluster, cookie) = signed_in().await;
    let got = world.get("/login?next=%2Fclusters%2Fprod", &cookie).await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/clusters/prod"));
    cluster.revoked.store(true, Ordering::Relaxed);
    let got = world.get("/login?next=%2Fclusters%2Fprod", &cookie).await;
    assert_eq!(got.status, StatusCode::OK, "redirected to the page that redirects here: {got:?}");
    assert!(got.text.contains("no longer accepts its token") && got.text.contains("/clusters/prod"), "{got:?}");
    let after = world.get("/clusters", &cookie).await;
    assert!(after.header(header::LOCATION).starts_with("/login"), "the session has ended: {after:?}");
}

#[tokio::test]
async fn a_token_refused_by_the_cluster_ends_the_session() {
    let (world, cluster, cookie) = signed_in().await;
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        world.get("/clusters", &cookie).await.status,
        StatusCode::OK,
        "one refused request alone doesn't end the session"
    );
    cluster.silent.store(true, Ordering::Relaxed);
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        world.get("/clusters", &cookie).await.status,
        StatusCode::OK,
        "neither does a cluster that doesn't answer"
    );
    cluster.silent.store(false, Ordering::Relaxed);
    cluster.revoked.store(true, Ordering::Relaxed);
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.get("/clusters", &cookie).await.header(header::LOCATION), "/login?ended&next=%2Fclusters");
}

#[tokio::test]
async fn a_mistyped_token_keeps_the_page_to_return_to() {
    let (world, ..) = signed_in().await;
    let wrong = world.post("/login", "", "token=guess&next=%2Fclusters%2Fprod").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("next: \"/clusters/prod\""), "{wrong:?}");
}

#[tokio::test]
async fn a_form_posted_after_the_session_ended_is_kept() {
    let world = World::new();
    let cookie = world.sign_in().await;
    world.post("/logout", &cookie, "").await;
    let body = "form=save&text=a%0D%0Ab&tags=1&tags=2&form=review";
    let held = world.post("/clusters/prod?tab=inventory", &cookie, body).await;
    assert_eq!(held.status, StatusCode::UNAUTHORIZED);
    assert!(held.text.starts_with("GET /login\n"), "{held:?}");
    assert!(held.text.contains("held for /clusters/prod?tab=inventory"), "{held:?}");
    let fields = r#"[("form", "save"), ("text", "a\r\nb"), ("tags", "1"), ("tags", "2"), ("form", "review")]"#;
    assert!(held.text.contains(fields), "{held:?}");
    let empty = world.post("/clusters/prod", "", "").await;
    assert_eq!(empty.header(header::LOCATION), "/login?next=%2Fclusters%2Fprod", "there is nothing to keep");
}

/// The address bar shows the form's address, so a hydrating app would replace this page by the form's page.
#[tokio::test]
async fn the_page_that_keeps_a_form_has_no_script_and_no_secret() {
    let manifest = br#"{"css":"/assets/site-1.css","js":"/assets/app-1.js","wasm":"/assets/app-1.wasm"}"#;
    let site = Site::new(|path| (path == "manifest.json").then(|| manifest[..].into()));
    let world = World::with_pages(|backend| pages::console(backend, &site));
    let body = "form=register_cluster&name=prod&pasted=n1+%3C10.0.0.1%3E&ssh=paste&ssh_key=KEY-MATERIAL";
    let held = world.post("/clusters/_new", "", body).await;
    assert_eq!(held.status, StatusCode::UNAUTHORIZED);
    assert!(!held.text.contains("hydrate()") && !held.text.contains("KEY-MATERIAL"), "{held:?}");
    assert!(held.text.contains("action=\"/clusters/_new\"") && held.text.contains("n1 &lt;10.0.0.1&gt;"), "{held:?}");
    assert!(held.text.contains("/assets/site-1.css"), "{held:?}");
}
