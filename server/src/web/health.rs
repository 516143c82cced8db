//! The probes. `/healthz`: the process answers. `/readyz`: everything it needs has started, and the disk has room. The console's port
//! answers them, too. The port of `--health-listen` answers `/metrics` besides, and nothing else.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use disk::Room;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use super::Web;
use crate::metrics::{self, Metrics};
use crate::session::SignIn;

/// The service of the port for probes.
pub(crate) fn router(web: Arc<Web>, metrics: Arc<Metrics>) -> Router {
    let figures =
        async move |State(web): State<Arc<Web>>| ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics.text(&web));
    let router = Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz));
    router.route("/metrics", get(figures)).with_state(web)
}

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

pub(super) async fn readyz(State(web): State<Arc<Web>>) -> Response {
    let missing = web.readiness.missing();
    if web.stop.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response()
    } else if !missing.is_empty() {
        (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for: {}\n", missing.join(", "))).into_response()
    } else if *web.room.borrow() == Room::Full {
        // In a cluster, a pod that isn't ready gets no requests. But its pages still work, and show the same sentence.
        let status = match web.sign_in {
            SignIn::Links(_) => StatusCode::SERVICE_UNAVAILABLE,
            SignIn::Tokens(_) => StatusCode::OK,
        };
        (status, format!("{}\n", disk::FULL)).into_response()
    } else if web.sessions.has_pending() {
        "ok, but a sign-out could not be stored yet; see the log\n".into_response()
    } else {
        "ok\n".into_response()
    }
}
