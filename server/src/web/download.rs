//! `GET /operations/{name}/log.txt`: the complete log of a run, streamed.

use std::io;
use std::sync::Arc;

use api::backend::Frames;
use api::{OperationName, Problem};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use http::header;

use super::Web;
use super::problem::as_text;
use crate::audit::{Caller, recorded};
use crate::session::Session;

pub(super) async fn log(
    State(web): State<Arc<Web>>,
    Extension(session): Extension<Session>,
    caller: Option<Extension<Caller>>,
    Path(name): Path<String>,
) -> Response {
    let Ok(run) = name.parse::<OperationName>() else {
        return as_text(&Problem::NotFound { what: "operation".into(), name });
    };
    match recorded(&web.backend, caller).runs.text(&session.user, &run).await {
        Ok(chunks) => {
            let head = [
                (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{run}.log\"")),
            ];
            // A long download must neither delay the shutdown of the server nor outlive the session.
            let ended = async move {
                tokio::select! {
                    () = web.stop.cancelled() => "The server was stopped.",
                    () = web.ended(&session) => "The session ended.",
                }
            };
            (head, Body::from_stream(complete_or_cut(chunks, ended.boxed()))).into_response()
        }
        Err(problem) => as_text(&problem),
    }
}

enum Sending {
    Chunks(Frames<Result<Vec<u8>, Problem>>, BoxFuture<'static, &'static str>),
    /// The line that reports the cut has been sent.
    Cut,
}

/// The log. If it can't be sent completely, a last line says so, and then the transfer fails, so that a program can't mistake
/// the part for the complete log either.
fn complete_or_cut(
    chunks: Frames<Result<Vec<u8>, Problem>>,
    ended: BoxFuture<'static, &'static str>,
) -> BoxStream<'static, io::Result<Vec<u8>>> {
    let send = async |sending| {
        let Sending::Chunks(mut chunks, mut ended) = sending? else {
            return Some((Err(io::Error::other("the log was not sent completely")), None));
        };
        let why = tokio::select! {
            biased;
            why = &mut ended => why.to_owned(),
            chunk = chunks.next() => match chunk? {
                Ok(chunk) => return Some((Ok(chunk), Some(Sending::Chunks(chunks, ended)))),
                Err(problem) => problem.to_string(),
            },
        };
        let line =
            format!("\n[This download was cut here. The rest of the log is missing. {why} Download the log again.]\n");
        Some((Ok(line.into_bytes()), Some(Sending::Cut)))
    };
    stream::unfold(Some(Sending::Chunks(chunks, ended)), send).boxed()
}
