//! The body of a watch: one JSON document per line.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::HeaderValue;
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{Answer, Reply, partial};
use super::negotiate::Shape;
use super::server::Server;
use super::table;
use crate::events;
use crate::kind::Kind;
use crate::request::{Query, Target, WatchOptions};
use crate::verbs::{Seen, Watch};

pub(super) fn watch(
    server: &Arc<Server>,
    target: &Target,
    options: WatchOptions,
    shape: Shape,
    query: &Query,
) -> Answer {
    let watch = Watch::start(server.objects.clone(), target.clone(), options, server.shutdown.clone())?;
    let lines = Lines { kind: target.kind.clone(), shape, query: query.clone(), first: true };
    let body = stream::unfold((watch, lines), |(mut watch, mut lines)| async move {
        let seen = watch.next().await?;
        let mut chunk = Vec::new();
        for event in &seen {
            lines.write(event, &mut chunk);
        }
        Some((Ok::<_, Infallible>(Bytes::from(chunk)), (watch, lines)))
    });
    Ok(Reply::stream(HeaderValue::from_static("application/json"), Body::from_stream(body)))
}

struct Lines {
    kind: Arc<Kind>,
    shape: Shape,
    query: Query,
    /// No event was sent yet. Only the first table of a watch describes the columns.
    first: bool,
}

#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'a str,
    object: T,
}

impl Lines {
    fn write(&mut self, seen: &Seen, chunk: &mut Vec<u8>) {
        match seen {
            Seen::Added(stored) => self.object("ADDED", &stored.value, chunk),
            Seen::Modified(stored) => self.object("MODIFIED", &stored.value, chunk),
            Seen::Deleted(last) => self.object("DELETED", last, chunk),
            Seen::Bookmark { revision, initial_end } => {
                let mut metadata = json!({"resourceVersion": revision.to_string()});
                if *initial_end {
                    metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
                }
                let (kind, version) = match self.shape {
                    Shape::Partial => ("PartialObjectMetadata", "meta.k8s.io/v1".to_owned()),
                    _ => (self.kind.kind.as_str(), self.kind.api_version()),
                };
                let object = json!({"kind": kind, "apiVersion": version, "metadata": metadata});
                if self.shape == Shape::Table {
                    line("BOOKMARK", &table::of_bookmark(&object), chunk);
                } else {
                    line("BOOKMARK", &object, chunk);
                }
            }
            Seen::Error(failure) => line("ERROR", &failure.status(), chunk),
        }
    }

    fn object(&mut self, what: &str, stored: &Value, chunk: &mut Vec<u8>) {
        let shown = events::outward(&self.kind, stored);
        match self.shape {
            Shape::Table => {
                line(what, &table::of_one(&self.kind, stored, &self.query, self.first), chunk);
                self.first = false;
            }
            Shape::Partial => line(what, &partial(&shown), chunk),
            _ => line(what, &*shown, chunk),
        }
    }
}

fn line<T: Serialize>(what: &str, object: &T, chunk: &mut Vec<u8>) {
    let start = chunk.len();
    if serde_json::to_writer(&mut *chunk, &Line { r#type: what, object }).is_ok() {
        chunk.push(b'\n');
    } else {
        chunk.truncate(start);
    }
}
