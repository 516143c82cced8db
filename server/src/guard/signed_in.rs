//! Deny by default: what is not listed here as open to everybody needs a session.

use std::sync::Arc;

use api::Problem;
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use http::{Method, StatusCode};

use crate::{
    forms,
    guard::as_json,
    router::Web,
    session::{page, taken_back::TakenBack},
};

/// What is the same for everybody: who asks doesn't matter, so nobody is asked about them.
fn knows_nobody(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/favicon.svg") || path.starts_with("/assets/")
}

/// What a stranger may ask for.
fn is_open(path: &str) -> bool {
    matches!(path, "/login" | "/logout") || knows_nobody(path)
}

/// The layer. It puts the session into the request's extensions.
pub async fn layer(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    if knows_nobody(request.uri().path()) {
        return next.run(request).await;
    }
    let session = web.sessions.of(request.headers());
    // A page that the cluster refused leads there: back again with an old word for the token would be a circle.
    if let Some(session) = session.as_ref().filter(|_| request.uri().path() == "/login") {
        web.doubt(session);
    }
    let session = match session {
        Some(session) if web.stands(&session).await => Some(session),
        Some(_) => {
            request.extensions_mut().insert(TakenBack);
            None
        }
        None => None,
    };
    let (path, signed_in) = (request.uri().path(), session.is_some());
    if !signed_in && !is_open(path) {
        let for_programs = path == "/live" || path.starts_with("/api");
        if for_programs || !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
            return as_json(&Problem::SignedOut);
        }
        let here = request.uri().path_and_query().map_or(path, |whole| whole.as_str());
        let taken_back = request.extensions().get::<TakenBack>().is_some();
        let sign_in = if taken_back { page::address_after_end(here) } else { page::address(here) };
        // What was typed into a form is not lost with the session. After any other POST the person comes back to the page.
        let held = if request.method() == Method::POST { forms::hold(&web, request).await } else { None };
        return held.unwrap_or_else(|| Redirect::to(&sign_in).into_response());
    }
    let Some(session) = session else { return next.run(request).await };
    request.extensions_mut().insert(session.clone());
    let response = next.run(request).await;
    // The cluster refused the person's token to somebody behind us: the next request asks whether it accepts it at all.
    if response.status() == StatusCode::UNAUTHORIZED {
        web.doubt(&session);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_in_is_open() {
        for open in ["/login", "/assets/app-1.js", "/healthz"] {
            assert!(is_open(open), "{open}");
        }
        for closed in [
            "/",
            "/clusters",
            "/api/list_clusters",
            "/live",
            "/login/",
            "/loginx",
            "/assets",
            "//login",
            "/operations/a/log.txt",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
