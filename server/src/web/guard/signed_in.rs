//! The layer that requires a session. Everything is closed, except for the addresses listed here.

use std::sync::Arc;

use api::Problem;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};

use crate::session::TokenRevoked;
use crate::web::problem::as_json;
use crate::web::{Web, forms, sign_in};

/// The same for everybody, so the session isn't read and its token isn't checked.
fn is_public(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/favicon.svg") || path.starts_with("/assets/")
}

/// Open without a session.
fn is_open(path: &str) -> bool {
    matches!(path, "/login" | "/logout") || is_public(path)
}

/// Puts the session into the request's extensions. Without a session, refuses the request or redirects to the sign-in page.
pub(in crate::web) async fn layer(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    if is_public(request.uri().path()) {
        return next.run(request).await;
    }
    let session = web.sessions.of(request.headers());
    // A page whose request the cluster refused redirects to /login. Check the token again here: a cached "accepted" would
    // redirect back to that page, forever.
    if let Some(session) = session.as_ref().filter(|_| request.uri().path() == "/login") {
        web.sessions.recheck(session);
    }
    let session = match session {
        Some(session) if web.sessions.is_valid(&session, &web.sign_in).await => Some(session),
        Some(_) => {
            request.extensions_mut().insert(TokenRevoked);
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
        let revoked = request.extensions().get::<TokenRevoked>().is_some();
        let sign_in = if revoked { sign_in::address_after_end(here) } else { sign_in::address(here) };
        // A form is kept on the sign-in page, so that its fields aren't lost with the session. After any other POST the
        // person returns to the page.
        let held = if request.method() == Method::POST { forms::hold(&web, request).await } else { None };
        return held.unwrap_or_else(|| Redirect::to(&sign_in).into_response());
    }
    let Some(session) = session else { return next.run(request).await };
    request.extensions_mut().insert(session.clone());
    let response = next.run(request).await;
    // The cluster refused the person's token in a request of a handler. The next request checks the token itself.
    if response.status() == StatusCode::UNAUTHORIZED {
        web.sessions.recheck(&session);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sign_in_assets_and_probes_need_no_session() {
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
