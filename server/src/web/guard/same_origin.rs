//! The layer that refuses requests of other origins.

use std::sync::Arc;

use api::Problem;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::web::origin::{OurOrigin, Refusal};
use crate::web::problem::{as_json, as_text};

/// Probes are exempt: a kubelet sends the pod's address as `Host`, and the answers reveal nothing.
pub(in crate::web) async fn layer(State(origin): State<Arc<OurOrigin>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if matches!(path, "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    match origin.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::warn!(%refusal, method = %request.method(), path, "refused a request");
            let problem = Problem::Forbidden { message: refusal.to_string() };
            match refusal {
                Refusal::Host(_) => (StatusCode::MISDIRECTED_REQUEST, as_text(&problem).into_body()).into_response(),
                Refusal::Origin(_) if path.starts_with("/api/") => as_json(&problem),
                Refusal::Origin(_) => as_text(&problem),
            }
        }
    }
}
