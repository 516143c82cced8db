//! What happens when a session ends while somebody is at work.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use api::{Problem, User};
use async_trait::async_trait;
use http::{StatusCode, header};
use kubeonkube::{assets::Site, guard::same_origin::OurOrigin, pages, session::Reviewer};

use crate::world::World;

/// A cluster that takes one token until it doesn't.
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
async fn a_token_that_was_revoked_before_its_cookie_ends_leads_to_the_sign_in_and_not_in_circles() {
    let (world, cluster, cookie) = signed_in().await;
    let there = world.get("/login?next=%2Fclusters%2Fprod", &cookie).await;
    assert_eq!((there.status, there.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/clusters/prod"));
    cluster.revoked.store(true, Ordering::Relaxed);
    let there = world.get("/login?next=%2Fclusters%2Fprod", &cookie).await;
    assert_eq!(there.status, StatusCode::OK, "sent back to where it came from: {there:?}");
    assert!(there.text.contains("no longer accepts its token") && there.text.contains("/clusters/prod"), "{there:?}");
    let after = world.get("/clusters", &cookie).await;
    assert!(after.header(header::LOCATION).starts_with("/login"), "the session is over: {after:?}");
}

#[tokio::test]
async fn an_answer_of_the_cluster_that_refuses_the_token_ends_the_session() {
    let (world, cluster, cookie) = signed_in().await;
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK, "one refusal alone says nothing");
    cluster.silent.store(true, Ordering::Relaxed);
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::OK, "silence says nothing either");
    cluster.silent.store(false, Ordering::Relaxed);
    cluster.revoked.store(true, Ordering::Relaxed);
    assert_eq!(world.post("/api/refused_token", &cookie, "").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.get("/clusters", &cookie).await.header(header::LOCATION), "/login?ended&next=%2Fclusters");
}

#[tokio::test]
async fn a_mistyped_token_keeps_the_way_back() {
    let (world, ..) = signed_in().await;
    let wrong = world.post("/login", "", "token=guess&next=%2Fclusters%2Fprod").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("next: \"/clusters/prod\""), "{wrong:?}");
}

#[tokio::test]
async fn a_form_that_comes_after_the_session_is_kept_and_sent_again() {
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
    assert_eq!(empty.header(header::LOCATION), "/login?next=%2Fclusters%2Fprod", "there was nothing to keep");
}

/// The browser shows the form's address, where the app would put the form's page.
#[tokio::test]
async fn the_page_that_keeps_a_form_stays_as_it_is_and_tells_no_secret() {
    let manifest = br#"{"css":"/assets/site-1.css","js":"/assets/app-1.js","wasm":"/assets/app-1.wasm"}"#;
    let site = Site::new(|path| (path == "manifest.json").then(|| manifest[..].into()));
    let world = World::with_pages(|backend| pages::console(backend, &site));
    let body = "form=register_cluster&name=prod&pasted=n1+%3C10.0.0.1%3E&ssh=paste&ssh_key=KEY-MATERIAL";
    let held = world.post("/clusters/new", "", body).await;
    assert_eq!(held.status, StatusCode::UNAUTHORIZED);
    assert!(!held.text.contains("hydrate()") && !held.text.contains("KEY-MATERIAL"), "{held:?}");
    assert!(held.text.contains("action=\"/clusters/new\"") && held.text.contains("n1 &lt;10.0.0.1&gt;"), "{held:?}");
    assert!(held.text.contains("/assets/site-1.css"), "{held:?}");
}
