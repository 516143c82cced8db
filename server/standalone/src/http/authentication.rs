//! The bearer token of the HTTPS port. It gives every right: RBAC objects are stored, but not evaluated.
//!
//! The headers of a front proxy (`X-Remote-User` and others) have no effect. A real API server ignores them, too, unless the request
//! comes with the proxy's client certificate, and this port accepts no client certificates.

use std::sync::Arc;

use axum::body::Body;
use connections::Peer;
use http::header::{AUTHORIZATION, HOST};
use http::{Request, Response};

use super::answer::Reply;
use super::impersonation;
use super::server::{ADMIN, Server};
use crate::failure::Failure;

/// The user of requests without a token, as in the API server.
const ANONYMOUS: &str = "system:anonymous";

impl Server {
    /// Answers a request of the HTTPS port. A wrong token is a 401. Without a token, only version and health are answered,
    /// and any other path is a 403. So is a request to act as another user.
    pub(crate) async fn authenticated(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let header = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
        let token = header.and_then(|header| header.split_once(' '));
        let path = request.uri().path();
        let refused = |failure: Failure| Reply::failure(&failure).into_response();
        if request.headers().get_all(HOST).iter().count() > 1 {
            return refused(Failure::bad_request("the request has more than one Host header"));
        }
        let user = match token {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()) => ADMIN,
            Some(_) => return refused(Failure::new(401, "Unauthorized", "Unauthorized")),
            None => ANONYMOUS,
        };
        if let Some(failure) = impersonation::refusal(request.headers(), user) {
            return refused(failure);
        }
        if user == ANONYMOUS && !matches!(path, "/healthz" | "/livez" | "/readyz" | "/version") {
            let message = format!("forbidden: User \"{ANONYMOUS}\" cannot access path \"{path}\"");
            return refused(Failure::forbidden(message));
        }
        if let Some(peer) = request.extensions().get::<Peer>().filter(|_| user == ADMIN) {
            peer.signed_in();
        }
        self.answer(user.into(), request).await
    }
}
