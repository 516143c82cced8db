//! The layer that requires a session. Everything is closed, except for the addresses listed here.

use std::sync::Arc;

use api::Problem;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use connections::Peer;
use http::{Method, StatusCode};

use crate::audit::Caller;
use crate::session::{Ended, Session};
use crate::web::problem::as_json;
use crate::web::{Web, forms, oidc, sign_in};

/// The same for everybody, so the session's token isn't checked.
fn is_public(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/favicon.svg") || path.starts_with("/assets/")
}

/// Open without a session.
fn is_open(path: &str) -> bool {
    matches!(path, "/login" | "/logout" | oidc::START | oidc::CALLBACK) || is_public(path)
}

/// A connection with a session isn't closed when too many connections without one are open.
fn keep_connection(session: Option<&Session>, request: &Request) {
    if let (Some(_), Some(peer)) = (session, request.extensions().get::<Peer>()) {
        peer.signed_in();
    }
}

/// Puts the session into the request's extensions. Without a session, refuses the request or redirects to the sign-in page.
pub(in crate::web) async fn layer(State(web): State<Arc<Web>>, mut request: Request, next: Next) -> Response {
    if let Some(audit) = &web.audit {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::of(audit.clone(), &parts);
        parts.extensions.insert(caller);
        request = Request::from_parts(parts, body);
    }
    let session = web.sessions.of(request.headers());
    if is_public(request.uri().path()) {
        keep_connection(session.as_ref(), &request);
        return next.run(request).await;
    }
    // A page whose request the cluster refused redirects to /login. Check the token again here: a cached "accepted" would
    // redirect back to that page, forever.
    if let Some(session) = session.as_ref().filter(|_| request.uri().path() == "/login") {
        web.sessions.recheck(session);
    }
    let session = match session {
        Some(session) => match web.sessions.current(session, &web.sign_in).await {
            Ok(session) => Some(session),
            Err(ended) => {
                request.extensions_mut().insert(ended);
                None
            }
        },
        None => None,
    };
    let (path, signed_in) = (request.uri().path(), session.is_some());
    if !signed_in && !is_open(path) {
        let for_programs = path == "/live" || path.starts_with("/api");
        if for_programs || !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
            return as_json(&Problem::SignedOut);
        }
        let here = request.uri().path_and_query().map_or(path, |whole| whole.as_str());
        let sign_in = match request.extensions().get::<Ended>() {
            Some(ended) => sign_in::address_after_end(*ended, here),
            None => sign_in::address(here),
        };
        // A form is kept on the sign-in page, so that its fields aren't lost with the session. After any other POST the
        // person returns to the page.
        let held = if request.method() == Method::POST { forms::hold(&web, request).await } else { None };
        return held.unwrap_or_else(|| Redirect::to(&sign_in).into_response());
    }
    keep_connection(session.as_ref(), &request);
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
        for open in ["/login", "/login/oidc", "/login/oidc/callback", "/assets/app-1.js", "/healthz"] {
            assert!(is_open(open), "{open}");
        }
        for closed in [
            "/",
            "/clusters",
            "/api/list_clusters",
            "/live",
            "/login/",
            "/login/oidc/",
            "/loginx",
            "/assets",
            "//login",
            "/operations/a/log.txt",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
