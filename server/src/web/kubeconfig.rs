//! `POST /clusters/{name}/kubeconfig`: the kubeconfig of a cluster as a file. A POST, because each download is recorded.

use std::sync::Arc;

use api::{ClusterName, Problem};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header;

use super::Web;
use super::problem::as_text;
use crate::audit::{Caller, recorded};
use crate::session::Session;

pub(super) async fn download(
    State(web): State<Arc<Web>>,
    Extension(session): Extension<Session>,
    caller: Option<Extension<Caller>>,
    Path(name): Path<String>,
) -> Response {
    let Ok(cluster) = name.parse::<ClusterName>() else {
        return as_text(&Problem::NotFound { what: "cluster".into(), name });
    };
    match recorded(&web.backend, caller).clusters.kubeconfig(&session.user, &cluster).await {
        Ok(text) => {
            let head = [
                (header::CONTENT_TYPE, "application/yaml".to_owned()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{cluster}.kubeconfig\"")),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            (head, text).into_response()
        }
        Err(problem) => as_text(&problem),
    }
}
