//! The bearer token of the HTTPS port. It gives every right: RBAC objects are stored, but not evaluated.

use std::sync::Arc;

use axum::body::Body;
use connections::Peer;
use http::header::{AUTHORIZATION, HOST};
use http::{Request, Response};

use super::answer::Reply;
use super::server::{ADMIN, Server};
use crate::failure::Failure;

impl Server {
    /// Answers a request of the HTTPS port. A wrong token is a 401. Without a token, only version and health are answered,
    /// and any other path is a 403.
    pub(crate) async fn authenticated(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let header = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
        let token = header.and_then(|header| header.split_once(' '));
        let path = request.uri().path();
        let refused = |failure: Failure| Reply::failure(&failure).into_response();
        if request.headers().get_all(HOST).iter().count() > 1 {
            return refused(Failure::bad_request("the request has more than one Host header"));
        }
        if let Some(user) = request.headers().get("impersonate-user") {
            // `kubectl --as`. Answering as the administrator would show rights that the user wouldn't have in a cluster.
            let user = user.to_str().unwrap_or_default();
            let message =
                format!("users \"{user}\" is forbidden: this API has one user only, so it can't act as another");
            return refused(Failure::forbidden(message));
        }
        match token {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()) => {
                if let Some(peer) = request.extensions().get::<Peer>() {
                    peer.signed_in();
                }
                self.answer(ADMIN.into(), request).await
            }
            Some(_) => refused(Failure::new(401, "Unauthorized", "Unauthorized")),
            None if matches!(path, "/healthz" | "/livez" | "/readyz" | "/version") => {
                self.answer("system:anonymous".into(), request).await
            }
            None => {
                let message = format!("forbidden: User \"system:anonymous\" cannot access path \"{path}\"");
                refused(Failure::forbidden(message))
            }
        }
    }
}
