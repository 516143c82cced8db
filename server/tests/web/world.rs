//! The web server with a fake backend and fake pages, which print what the layers passed to them.

use std::sync::Arc;

use api::{Backend, Problem, User};
use app::login::{HeldForm, LoginPage};
use app::{FormAnswer, FormReturn};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use disk::Room;
use futures::FutureExt;
use http::{HeaderMap, Method, StatusCode, header};
use http_body_util::BodyExt;
use kubeonkube::audit::{Audit, AuditLog};
use kubeonkube::oidc::Provider;
use kubeonkube::panics::Panicked;
use kubeonkube::session::{Links, Reviewer, Session, Sessions, SignIn};
use kubeonkube::web::assets::Site;
use kubeonkube::web::origin::OurOrigin;
use kubeonkube::web::readiness::{Gate, Readiness};
use kubeonkube::web::router::router;
use kubeonkube::web::{Pages, Web};
use leptos::nonce::Nonce;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::backend::Fake;

pub(crate) const HOST: &str = "127.0.0.1:7080";
pub(crate) const ORIGIN: &str = "http://127.0.0.1:7080";

pub(crate) struct World {
    pub(crate) data: TempDir,
    pub(crate) links: Links,
    pub(crate) fake: Fake,
    pub(crate) web: Arc<Web>,
    pub(crate) router: Router,
    pub(crate) gate: Gate,
    /// The room that the server sees on its disk.
    pub(crate) room: watch::Sender<Room>,
}

#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    pub(crate) fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("ascii")).unwrap_or_default()
    }

    pub(crate) fn problem(&self) -> Problem {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no problem: {self:?}"))
    }

    /// The cookie of the response, as a browser sends it back.
    pub(crate) fn cookie(&self) -> String {
        self.header(header::SET_COOKIE).split(';').next().unwrap_or_default().to_owned()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(OurOrigin::Loopback, None)
    }

    pub(crate) fn with(origin: OurOrigin, reviewer: Option<Arc<dyn Reviewer>>) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        Self::opened(data, origin, reviewer, None, |_| pages())
    }

    /// In a cluster, where people can sign in at this provider.
    pub(crate) fn with_provider(reviewer: Arc<dyn Reviewer>, provider: Arc<dyn Provider>) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        Self::opened(data, OurOrigin::Loopback, Some(reviewer), Some(provider), |_| pages())
    }

    /// With pages made from this world's backend.
    pub(crate) fn with_pages(pages: impl FnOnce(Backend) -> Pages) -> Self {
        Self::opened(tempfile::tempdir().expect("a directory"), OurOrigin::Loopback, None, None, pages)
    }

    fn opened(
        data: TempDir,
        origin: OurOrigin,
        reviewer: Option<Arc<dyn Reviewer>>,
        provider: Option<Arc<dyn Provider>>,
        pages: impl FnOnce(Backend) -> Pages,
    ) -> Self {
        let fake = Fake::new();
        let secure = matches!(&origin, OurOrigin::Public(url) if url.https);
        let mut readiness = Readiness::default();
        let gate = readiness.awaits("clusters and operations");
        let (room, seen) = watch::channel(Room::Enough);
        let sessions = Sessions::open(data.path(), "the API", secure).expect("sessions");
        let web = Arc::new(Web {
            backend: fake.backend(),
            sessions: match &provider {
                Some(provider) => sessions.renewed_by(provider.clone()),
                None => sessions,
            },
            sign_in: reviewer.map_or_else(|| SignIn::Links(Links::open(data.path()).expect("links")), SignIn::Tokens),
            provider,
            audit: Some(Arc::new(Audit::new(AuditLog::File(data.path().join("audit.log"))))),
            origin,
            site: Site::new(|path| (path == "assets/app-1.js").then(|| b"script"[..].into())),
            pages: pages(fake.backend()),
            readiness,
            room: seen,
            stop: CancellationToken::new(),
            sockets: TaskTracker::new(),
        });
        let links = Links::open(data.path()).expect("links");
        Self { router: router(web.clone()), links, fake, web, gate, room, data }
    }

    /// A new server with the same data directory.
    pub(crate) fn restarted(self) -> Self {
        self.restarted_with(None)
    }

    /// The same with another way to sign in.
    pub(crate) fn restarted_with(self, reviewer: Option<Arc<dyn Reviewer>>) -> Self {
        let provider = self.web.provider.clone();
        Self::opened(self.data, self.web.origin.clone(), reviewer, provider, |_| pages())
    }

    /// Every route, in axum's syntax.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let others = include_str!("routes.txt").lines().map(ToOwned::to_owned);
        others.chain(self.web.pages.addresses.iter().cloned()).collect()
    }

    pub(crate) async fn send(&self, request: http::request::Builder, body: impl Into<Body>) -> Got {
        let mut request = request.body(body.into()).expect("a request");
        request.headers_mut().entry(header::HOST).or_insert(HOST.parse().expect("ascii"));
        let on_purpose = request.uri().path() == "/api/panic";
        let (parts, body) = self.router.clone().oneshot(request).await.expect("a response").into_parts();
        assert_eq!(parts.extensions.get::<Panicked>().is_some(), on_purpose, "only one request may panic");
        let bytes = body.collect().await.expect("the body").to_bytes();
        Got { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Got {
        self.send(Request::get(path).header(header::COOKIE, cookie), Body::empty()).await
    }

    /// Posts a form as the browser does on our own page.
    pub(crate) async fn post(&self, path: &str, cookie: &str, body: impl Into<Body>) -> Got {
        let request = Request::builder().method(Method::POST).uri(path).header(header::COOKIE, cookie);
        let request = request.header(header::ORIGIN, ORIGIN).header("sec-fetch-site", "same-origin");
        self.send(request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded"), body).await
    }

    /// Signs in with a new link; returns the cookie.
    pub(crate) async fn sign_in(&self) -> String {
        let token = self.links.make("ann").expect("a link");
        let got = self.post("/login", "", format!("token={token}")).await;
        assert_eq!(got.status, StatusCode::SEE_OTHER, "{got:?}");
        got.cookie()
    }
}

/// Pages that print the content of the request's extensions, and functions that redirect, answer, refuse or panic.
fn pages() -> Pages {
    Pages {
        addresses: vec!["/clusters".into(), "/clusters/{name}".into(), "/login".into()],
        render: Arc::new(|request: Request| async move { print(&request) }.boxed()),
        call: Arc::new(|request: Request| async move { call(request).await }.boxed()),
    }
}

fn print(request: &Request) -> Response {
    let extensions = request.extensions();
    let mut text = format!("{} {}\n", request.method(), request.uri());
    text += &format!("nonce {}\n", extensions.get::<Nonce>().expect("a nonce"));
    if let Some(session) = extensions.get::<Session>() {
        text += &format!("user {}\n", session.user.name);
    }
    if let Some(page) = extensions.get::<LoginPage>() {
        text += &format!("{page:?}\n");
    }
    if let Some(refused) = extensions.get::<FormReturn>() {
        text += &format!("refused {}: {}\n", refused.form, refused.problem);
        text += &refused.values.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>();
    }
    if let Some(held) = extensions.get::<HeldForm>() {
        text += &format!("held for {}: {:?}\n", held.action, held.fields);
    }
    if let Some(answered) = extensions.get::<FormAnswer>() {
        text += &format!("answered {}: {}\n{:?}\n", answered.form, answered.answer_json, answered.values);
    }
    text.into_response()
}

async fn call(request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let user: User = request.extensions().get::<Session>().expect("only signed-in requests get here").user.clone();
    let body = request.into_body().collect().await.expect("the body").to_bytes();
    match path.as_str() {
        "/api/save" => [(header::LOCATION, format!("/clusters/{}", user.name))].into_response(),
        "/api/review" => format!("{{\"bytes\":{}}}", body.len()).into_response(),
        "/api/refused_token" => {
            let problem = serde_json::to_string(&Problem::SignedOut).expect("json");
            (StatusCode::UNAUTHORIZED, problem).into_response()
        }
        "/api/panic" => panic!("on purpose"),
        "/api/refused" => StatusCode::UNAUTHORIZED.into_response(),
        _ => {
            let problem = Problem::field("text", "line 3 is not YAML");
            (StatusCode::UNPROCESSABLE_ENTITY, serde_json::to_string(&problem).expect("json")).into_response()
        }
    }
}
