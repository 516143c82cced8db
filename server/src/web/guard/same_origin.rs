//! The layer that refuses requests of other origins.

use std::sync::Arc;

use api::Problem;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::{Authority, PathAndQuery};
use http::{HeaderName, HeaderValue, StatusCode, Uri, header};

use crate::web::origin::{OurOrigin, Refusal};
use crate::web::problem::{as_json, as_text};

/// Probes are exempt: a kubelet sends the pod's address as `Host`, and the answers reveal nothing.
pub(in crate::web) async fn layer(State(origin): State<Arc<OurOrigin>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if matches!(path, "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    match origin.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(without_claims(request, &origin)).await,
        Err(refusal) => {
            tracing::warn!(%refusal, method = %request.method(), path, "refused a request");
            let problem = Problem::Forbidden { message: refusal.to_string() };
            match refusal {
                Refusal::Host { .. } => {
                    (StatusCode::MISDIRECTED_REQUEST, as_text(&problem).into_body()).into_response()
                }
                Refusal::Malformed(_) => (StatusCode::BAD_REQUEST, as_text(&problem).into_body()).into_response(),
                Refusal::Origin { .. } | Refusal::Scheme { .. } if path.starts_with("/api/") => as_json(&problem),
                Refusal::Origin { .. } | Refusal::Scheme { .. } => as_text(&problem),
            }
        }
    }
}

/// Pages build their own address from the request's target, `Host` and `X-Forwarded-Proto`, and panic if it isn't a URL. So a
/// target such as `file://localhost:80/` becomes a path with a `Host`, and the scheme is ours, whatever the client claims.
fn without_claims(mut request: Request, origin: &OurOrigin) -> Request {
    let authority = request.uri().authority().map(Authority::as_str).and_then(|name| HeaderValue::from_str(name).ok());
    if let Some(authority) = authority {
        request.headers_mut().insert(header::HOST, authority);
    }
    let target = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(target);
    let is_https = matches!(origin, OurOrigin::Public(url) if url.https);
    let scheme = HeaderValue::from_static(if is_https { "https" } else { "http" });
    request.headers_mut().insert(HeaderName::from_static("x-forwarded-proto"), scheme);
    request
}
