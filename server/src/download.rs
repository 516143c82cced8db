//! `GET /operations/{name}/log.txt`: the whole text of a run, streamed.

use std::{io, sync::Arc};

use api::{OperationName, Problem, backend::Frames};
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
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
            let over = async move {
                tokio::select! {
                    () = web.stop.cancelled() => "The server was stopped.",
                    () = web.over(&session) => "The session ended.",
                }
            };
            (head, Body::from_stream(whole_or_cut(chunks, over.boxed()))).into_response()
        }
        Err(problem) => as_text(&problem),
    }
}

enum Sending {
    Chunks(Frames<Result<Vec<u8>, Problem>>, BoxFuture<'static, &'static str>),
    /// The last line is sent.
    Cut,
}

/// The text; or as much of it as there was before it can't go on, a last line that says so, and an error: the transfer is
/// broken off, so that no program takes the part for the whole either.
fn whole_or_cut(
    chunks: Frames<Result<Vec<u8>, Problem>>,
    over: BoxFuture<'static, &'static str>,
) -> BoxStream<'static, io::Result<Vec<u8>>> {
    let send = async |sending| {
        let Sending::Chunks(mut chunks, mut over) = sending? else {
            return Some((Err(io::Error::other("the log was not sent whole")), None));
        };
        let why = tokio::select! {
            biased;
            why = &mut over => why.to_owned(),
            chunk = chunks.next() => match chunk? {
                Ok(chunk) => return Some((Ok(chunk), Some(Sending::Chunks(chunks, over)))),
                Err(problem) => problem.to_string(),
            },
        };
        let line =
            format!("\n[This download was cut here: the rest of the log is missing. {why} Download it again.]\n");
        Some((Ok(line.into_bytes()), Some(Sending::Cut)))
    };
    stream::unfold(Some(Sending::Chunks(chunks, over)), send).boxed()
}
