//! `GET /operations/{name}/log.txt`: the whole text of a run, streamed.

use std::{convert::Infallible, sync::Arc};

use api::{OperationName, Problem};
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use http::header;

use crate::{guard::as_text, router::Web, session::Session};

pub(crate) async fn log(
    State(web): State<Arc<Web>>,
    Extension(session): Extension<Session>,
    Path(name): Path<String>,
) -> Response {
    let Ok(run) = name.parse::<OperationName>() else {
        return as_text(&Problem::NotFound { what: "operation".into(), name });
    };
    match web.backend.runs.text(&session.user, &run).await {
        Ok(chunks) => {
            let head = [
                (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{run}.log\"")),
            ];
            // A long download must not hold up the end of the server, nor outlive the session.
            let over = Box::pin(async move {
                tokio::select! {
                    () = web.stop.cancelled() => {}
                    () = web.sessions.ended(&session) => {}
                }
            });
            (head, Body::from_stream(chunks.map(Ok::<_, Infallible>).take_until(over))).into_response()
        }
        Err(problem) => as_text(&problem),
    }
}
