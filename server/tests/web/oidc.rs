//! Signing in at an OIDC provider. The provider and the cluster are scripted here; `end2end/tests/oidc.spec.ts` uses a real provider.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use api::live::LiveFrame;
use api::{Problem, User};
use async_trait::async_trait;
use futures::StreamExt;
use http::{StatusCode, header};
use kubeonkube::oidc::{OidcError, Provider, RenewError, Started, Tokens};
use kubeonkube::session::Reviewer;
use tokio_tungstenite::tungstenite::Message;

use crate::live::{connect, listen};
use crate::patience::PATIENCE;
use crate::world::{Got, World};

/// How long a token lives, in seconds.
const LONG: u64 = 3600;

/// A provider whose codes and tokens are the user's name. Tokens are numbered: `ann-0`, `ann-1` after a renewal.
#[derive(Default)]
struct Scripted {
    sign_ins: AtomicUsize,
    renewals: AtomicUsize,
    /// The lifetime of the next token.
    lifetime: Mutex<Option<u64>>,
    /// The age of the next token.
    age: AtomicU64,
    now: Mutex<Now>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Now {
    #[default]
    Up,
    Down,
    /// It renews nothing.
    Refusing,
    /// It says too much about an error.
    Rambling,
}

impl Scripted {
    fn is(&self, now: Now) {
        *self.now.lock().expect("no panic") = now;
    }

    fn gives_tokens_for(&self, seconds: u64) {
        *self.lifetime.lock().expect("no panic") = Some(seconds);
    }

    fn tokens(&self, name: &str, number: usize) -> Tokens {
        let (lifetime, now) = (self.lifetime.lock().expect("no panic").unwrap_or(LONG), now());
        Tokens {
            id_token: format!("{name}-{number}"),
            refresh_token: Some("refresh".into()),
            received: now - self.age.load(Ordering::SeqCst),
            expires: now + lifetime,
        }
    }

    fn down(&self) -> Result<(), OidcError> {
        let name = "Example".to_owned();
        match *self.now.lock().expect("no panic") {
            Now::Down => Err(OidcError::Unreachable { name, why: "connection refused".into() }),
            Now::Rambling => Err(OidcError::Mismatch { name, why: "text ".repeat(2000) }),
            Now::Up | Now::Refusing => Ok(()),
        }
    }
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "Example"
    }

    async fn start(&self) -> Result<Started, OidcError> {
        self.down()?;
        let number = self.sign_ins.fetch_add(1, Ordering::SeqCst);
        let (state, nonce, verifier) =
            (format!("state-{number}"), format!("nonce-{number}"), format!("verifier-{number}"));
        Ok(Started { url: format!("https://id.example/auth?state={state}"), state, nonce, verifier })
    }

    async fn finish(&self, code: &str, nonce: &str, verifier: &str) -> Result<Tokens, OidcError> {
        self.down()?;
        let (nonce, verifier) = (nonce.trim_start_matches("nonce"), verifier.trim_start_matches("verifier"));
        assert_eq!(nonce, verifier, "of one sign-in");
        Ok(self.tokens(code, 0))
    }

    async fn renew(&self, old: &Tokens) -> Result<Tokens, RenewError> {
        self.down()?;
        if *self.now.lock().expect("no panic") == Now::Refusing {
            return Err(RenewError::Refused("invalid_grant".into()));
        }
        let number = self.renewals.fetch_add(1, Ordering::SeqCst) + 1;
        let name = old.id_token.split('-').next().expect("a name");
        Ok(self.tokens(name, number))
    }

    async fn sign_out_page(&self) -> Option<String> {
        Some("https://id.example/end?client_id=console&x=\"".into())
    }
}

/// A cluster that accepts every token but those of eve and `rejected`, and remembers them.
#[derive(Default)]
struct Cluster(Mutex<Vec<String>>, Mutex<String>);

#[async_trait]
impl Reviewer for Cluster {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        self.0.lock().expect("no panic").push(token.to_owned());
        let name = token.split('-').next().expect("a name").to_owned();
        let is_rejected = name == "eve" || *self.1.lock().expect("no panic") == token;
        Ok((!is_rejected).then(|| (User { name, token: Some(token.to_owned()) }, None)))
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

fn world() -> (World, Arc<Scripted>, Arc<Cluster>) {
    let (provider, cluster) = (Arc::new(Scripted::default()), Arc::new(Cluster::default()));
    (World::with_provider(cluster.clone(), provider.clone()), provider, cluster)
}

/// All cookies that the response sets, as a browser sends them back.
fn cookies(got: &Got) -> String {
    let set = got.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().expect("ascii"));
    let pairs = set.filter(|set| !set.contains("Max-Age=0")).map(|set| set.split(';').next().expect("a pair"));
    pairs.collect::<Vec<_>>().join("; ")
}

/// Signs in as `name`, and returns the session's cookie.
async fn sign_in(world: &World, name: &str, next: &str) -> (String, String) {
    let begun = world.get(&format!("/login/oidc?next={next}"), "").await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{begun:?}");
    let state = begun.header(header::LOCATION).split("state=").nth(1).expect("a state").to_owned();
    let got = world.get(&format!("/login/oidc/callback?code={name}&state={state}"), &cookies(&begun)).await;
    assert_eq!(got.status, StatusCode::SEE_OTHER, "{got:?}");
    (cookies(&got), got.header(header::LOCATION).to_owned())
}

/// The sentence that the sign-in page shows after this refusal.
async fn sentence(world: &World, refused: &Got) -> String {
    assert_eq!(refused.status, StatusCode::SEE_OTHER, "{refused:?}");
    assert!(refused.header(header::LOCATION).starts_with("/login"), "{refused:?}");
    let page = world.get(refused.header(header::LOCATION), &cookies(refused)).await;
    assert!(page.text.contains("provider: Some(\"Example\")"), "{page:?}");
    let text = page.text.split("problem: Some(\"").nth(1).unwrap_or_else(|| panic!("no problem: {page:?}"));
    text.split("\")").next().expect("its end").to_owned()
}

#[tokio::test]
async fn people_sign_in_at_the_provider_and_read_with_its_token() {
    let (world, _, cluster) = world();
    let (cookie, next) = sign_in(&world, "ann", "%2Fclusters%3Fq%3Da").await;
    assert_eq!(next, "/clusters?q=a");
    assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    assert_eq!(cluster.0.lock().expect("no panic")[0], "ann-0");
    assert!(!cookie.contains("ann-0"));
    let world = world.restarted_with(Some(cluster));
    assert!(world.get("/clusters", &cookie).await.text.contains("user ann"), "a restart ended the session");
}

#[tokio::test]
async fn the_redirect_after_the_provider_stays_on_this_site() {
    let (world, ..) = world();
    for foreign in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example", "%2Flogout", "evil"] {
        assert_eq!(sign_in(&world, "ann", foreign).await.1, "/", "{foreign}");
    }
}

#[tokio::test]
async fn without_the_state_of_this_browser_nobody_is_signed_in() {
    let (world, provider, _) = world();
    let begun = world.get("/login/oidc", "").await;
    let cookie = cookies(&begun);
    let set = begun.header(header::SET_COOKIE);
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Max-Age=600"), "{set}");
    for (query, cookie) in [
        ("code=ann&state=other", cookie.as_str()),
        ("code=ann&state=", &cookie),
        ("code=ann", &cookie),
        // Of another browser.
        ("code=ann&state=state-0", ""),
        // A text of another site must not reach the page.
        ("error=call_this_number&state=other", &cookie),
    ] {
        let refused = world.get(&format!("/login/oidc/callback?{query}"), cookie).await;
        let why = sentence(&world, &refused).await;
        assert!(
            why.contains("not started in this browser") && why.contains("Sign in with Example again"),
            "{query}: {why}"
        );
        let session = world.get("/clusters", &cookies(&refused)).await;
        assert_eq!(session.status, StatusCode::SEE_OTHER, "{query}");
    }
    assert_eq!(provider.sign_ins.load(Ordering::SeqCst), 1);
    // Everybody can open such an address, so the audit log has none of these.
    assert_eq!(std::fs::read_to_string(world.data.path().join("audit.log")).unwrap_or_default(), "");
}

#[tokio::test]
async fn long_texts_of_others_fit_into_cookies() {
    let (world, provider, _) = world();
    let fits = |got: &Got| got.header(header::SET_COOKIE).len() < 4096;
    let page = format!("%2Fclusters%3Fq%3D{}", "a".repeat(1900));
    assert_eq!(sign_in(&world, "ann", &page).await.1.len(), 1900 + "/clusters?q=".len());
    assert_eq!(sign_in(&world, "ann", &format!("%2Fclusters%3Fq%3D{}", "a".repeat(3000))).await.1, "/");
    // Twice as long in the cookie, so it can't be kept there.
    let quotes = world.get(&format!("/login/oidc?next=%2F{}", "%22".repeat(1990)), "").await;
    assert!(fits(&quotes), "{quotes:?}");
    provider.is(Now::Rambling);
    let refused = world.get("/login/oidc", "").await;
    assert!(fits(&refused), "{refused:?}");
    let sentence = sentence(&world, &refused).await;
    assert!(sentence.starts_with("Example is not set up") && sentence.chars().count() == 500, "{sentence}");
}

#[tokio::test]
async fn a_sign_in_ends_once() {
    let (world, ..) = world();
    let begun = world.get("/login/oidc", "").await;
    let cookie = cookies(&begun);
    let again = world.get("/login/oidc/callback?code=ann&state=state-0", &cookie).await;
    let removed: Vec<_> = again
        .headers
        .get_all(header::SET_COOKIE)
        .iter()
        .filter(|set| set.to_str().unwrap().contains("Max-Age=0"))
        .collect();
    assert_eq!(removed.len(), 1, "the browser must forget the sign-in: {again:?}");
    // A changed cookie, such as one with a later end, is none.
    let changed = cookie.replace("-begun=", "-begun=A");
    let refused = world.get("/login/oidc/callback?code=ann&state=state-0", &changed).await;
    assert!(sentence(&world, &refused).await.contains("more than 10 minutes ago"));
}

#[tokio::test]
async fn every_refusal_is_a_sentence_on_the_sign_in_page() {
    let (world, provider, _) = world();
    let back = async |query: &str| {
        let begun = world.get("/login/oidc?next=%2Foperations", "").await;
        let state = begun.header(header::LOCATION).split("state=").nth(1).expect("a state").to_owned();
        let refused = world.get(&format!("/login/oidc/callback?{query}&state={state}"), &cookies(&begun)).await;
        assert_eq!(refused.header(header::LOCATION), "/login?next=%2Foperations");
        sentence(&world, &refused).await
    };
    assert!(back("error=access_denied").await.contains("Example did not sign you in: access was denied"));
    assert!(back("error=server_error%3Cb%3E").await.contains("(server_errorb)"));
    assert!(back("code=eve").await.contains("the cluster does not accept its token. The API server must trust"));
    let audit = std::fs::read_to_string(world.data.path().join("audit.log")).expect("an audit log");
    let results: Vec<_> =
        audit.lines().map(|line| if line.contains(r#""result":"failed""#) { "failed" } else { "refused" }).collect();
    assert_eq!(results, ["refused", "refused", "refused"], "{audit}");
    assert!(back("error=temporarily_unavailable").await.contains("Try again in a moment"));
    let audit = std::fs::read_to_string(world.data.path().join("audit.log")).expect("an audit log");
    assert!(audit.lines().last().expect("a line").contains(r#""result":"failed","reason":"unavailable""#), "{audit}");
    provider.is(Now::Down);
    let refused = world.get("/login/oidc?next=%2Foperations", "").await;
    assert!(sentence(&world, &refused).await.contains("Example can't be reached: connection refused"));
    let gone = world.get("/login?next=%2Foperations", "").await;
    assert!(gone.text.contains("problem: None"), "a sentence is shown once");
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires() {
    let (world, provider, cluster) = world();
    // The last minute of an hour has begun.
    provider.age.store(LONG, Ordering::SeqCst);
    provider.gives_tokens_for(59);
    let (cookie, _) = sign_in(&world, "ann", "").await;
    provider.age.store(0, Ordering::SeqCst);
    provider.gives_tokens_for(LONG);
    for _ in 0..5 {
        assert!(world.get("/clusters", &cookie).await.text.contains("user ann"));
    }
    assert_eq!(provider.renewals.load(Ordering::SeqCst), 1);
    assert!(cluster.0.lock().expect("no panic").contains(&"ann-1".to_owned()), "the new token was not reviewed");
}

#[tokio::test]
async fn a_refused_renewal_ends_the_session_with_a_sentence() {
    let (world, provider, _) = world();
    provider.gives_tokens_for(0);
    let (cookie, _) = sign_in(&world, "ann", "").await;
    provider.is(Now::Down);
    let got = world.get("/clusters", &cookie).await;
    assert_eq!(got.header(header::LOCATION), "/login?ended=unreachable&next=%2Fclusters");
    let page = world.get(got.header(header::LOCATION), &cookie).await;
    assert!(page.text.contains("can't be renewed because Example can't be reached"), "{page:?}");

    let (cookie, _) = {
        provider.is(Now::Up);
        sign_in(&world, "ann", "").await
    };
    provider.is(Now::Refusing);
    let got = world.get("/clusters", &cookie).await;
    assert_eq!(got.header(header::LOCATION), "/login?ended=renewal&next=%2Fclusters");
    let page = world.get(got.header(header::LOCATION), "").await;
    assert!(page.text.contains("Your session ended because Example did not renew it. Sign in again."), "{page:?}");
    provider.is(Now::Up);
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER, "it has ended for good");
}

#[tokio::test]
async fn a_rejected_token_at_its_end_is_renewed_once_more() {
    let (world, provider, cluster) = world();
    // Not due for another 30 seconds.
    provider.gives_tokens_for(45);
    let (cookie, _) = sign_in(&world, "ann", "").await;
    provider.gives_tokens_for(LONG);
    "ann-0".clone_into(&mut cluster.1.lock().expect("no panic"));
    provider.is(Now::Down);
    for _ in 0..2 {
        let got = world.get("/clusters", &cookie).await;
        assert_eq!(got.header(header::LOCATION), "/login?ended=unreachable&next=%2Fclusters");
    }
    provider.is(Now::Up);
    let deadline = Instant::now() + PATIENCE;
    let got = loop {
        let got = world.get("/clusters", &cookie).await;
        if got.status == StatusCode::OK {
            break got;
        }
        assert_eq!(got.header(header::LOCATION), "/login?ended=unreachable&next=%2Fclusters");
        assert!(Instant::now() < deadline, "the token was not renewed");
        tokio::task::yield_now().await;
    };
    assert!(got.text.contains("user ann") && provider.renewals.load(Ordering::SeqCst) == 1, "{got:?}");

    let (cookie, _) = sign_in(&world, "bob", "").await;
    "bob-0".clone_into(&mut cluster.1.lock().expect("no panic"));
    let got = world.get("/clusters", &cookie).await;
    assert_eq!(got.header(header::LOCATION), "/login?ended&next=%2Fclusters", "this one is not at its end");
    assert_eq!(provider.renewals.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn sign_out_ends_the_session_also_while_the_provider_is_down() {
    let (world, provider, _) = world();
    provider.gives_tokens_for(0);
    let (cookie, _) = sign_in(&world, "ann", "").await;
    provider.is(Now::Down);
    let got = world.post("/logout", &cookie, "").await;
    assert!(got.header(header::SET_COOKIE).contains("Max-Age=0"), "{got:?}");
    let files = std::fs::read_dir(world.data.path().join("oidc")).expect("the folder").count();
    assert_eq!(files, 0, "the tokens must be deleted");
    let audit = std::fs::read_to_string(world.data.path().join("audit.log")).expect("an audit log");
    assert_eq!(audit.lines().filter(|line| line.contains(r#""verb":"sign-out""#)).count(), 1, "{audit}");
    provider.is(Now::Up);
    let again = world.get("/clusters", &cookie).await;
    assert_eq!(again.header(header::LOCATION), "/login?next=%2Fclusters", "a copy of the cookie still works");
}

#[tokio::test]
async fn sign_out_leads_to_the_sign_out_of_the_provider() {
    let (world, provider, cluster) = world();
    let (cookie, _) = sign_in(&world, "ann", "").await;
    let got = world.post("/logout", &cookie, "").await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(got.text.contains("content=\"0;url=https://id.example/end?client_id=console&amp;x=&quot;\""), "{got:?}");
    assert!(got.header(header::SET_COOKIE).contains("Max-Age=0"));
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER);
    let files = std::fs::read_dir(world.data.path().join("oidc")).expect("the folder").count();
    assert_eq!(files, 0, "the tokens must be deleted");
    // A session of a pasted token belongs to no provider.
    let pasted = world.post("/login", "", "token=bob-0").await.cookie();
    let got = world.post("/logout", &pasted, "").await;
    assert_eq!(got.header(header::LOCATION), "/login");
    drop((provider, cluster));
}

#[tokio::test]
async fn a_socket_closes_when_the_token_is_due_without_signing_out() {
    let (world, provider, _) = world();
    provider.gives_tokens_for(3);
    let (cookie, _) = sign_in(&world, "ann", "").await;
    let address = listen(&world).await;
    let origin = format!("http://{address}");
    let mut socket = connect(address, &cookie, &origin).await.expect("connected");
    // On a slow machine, the token was due before the connection.
    let before = provider.renewals.load(Ordering::SeqCst);
    let until_closed = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    assert_ne!(serde_json::from_str::<LiveFrame>(&text).expect("a frame"), LiveFrame::SignedOut);
                }
                other => break other,
            }
        }
    };
    let closed = tokio::time::timeout(PATIENCE, until_closed).await.expect("the socket stays open");
    assert!(matches!(closed, Some(Ok(Message::Close(_)))), "{closed:?}");
    let _again = connect(address, &cookie, &origin).await.expect("connected again");
    assert!(provider.renewals.load(Ordering::SeqCst) > before, "the new connection renews the token");
}
