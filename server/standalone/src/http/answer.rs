//! Answers: status code, headers and body.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, VARY, WARNING, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::events;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::verbs::List;

pub(super) type Answer = Result<Reply, Failure>;

pub(super) struct Reply {
    status: StatusCode,
    content_type: HeaderValue,
    body: Body,
    more: Vec<(HeaderName, String)>,
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Reply {
    pub(super) fn value<T: Serialize>(status: StatusCode, value: &T) -> Answer {
        let text = serde_json::to_vec(value);
        let text = text.map_err(|error| Failure::internal(format!("the answer can't be written: {error}")))?;
        Ok(Self::new(status, JSON, text))
    }

    pub(super) fn json(status: StatusCode, value: &Value) -> Self {
        Self::new(status, JSON, value.to_string())
    }

    pub(super) fn ok(value: &Value) -> Self {
        Self::json(StatusCode::OK, value)
    }

    pub(super) fn bytes(json: Bytes) -> Self {
        Self::new(StatusCode::OK, JSON, json)
    }

    pub(super) fn plain(status: StatusCode, text: &'static str) -> Self {
        Self::new(status, HeaderValue::from_static("text/plain; charset=utf-8"), text)
    }

    pub(super) fn stream(content_type: HeaderValue, body: Body) -> Self {
        Self::new(StatusCode::OK, content_type, body)
    }

    pub(super) fn failure(failure: &Failure) -> Self {
        let status = StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut reply = Self::json(status, &failure.status());
        if let Some(seconds) = failure.details.as_ref().and_then(|details| details.get("retryAfterSeconds")) {
            reply.more.push((RETRY_AFTER, seconds.to_string()));
        }
        if status == StatusCode::UNAUTHORIZED {
            reply.more.push((WWW_AUTHENTICATE, "Bearer".into()));
        }
        reply
    }

    fn new(status: StatusCode, content_type: HeaderValue, body: impl Into<Body>) -> Self {
        Self { status, content_type, body: body.into(), more: Vec::new() }
    }

    /// For documents that depend on the Accept header.
    pub(super) fn with_content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = HeaderValue::from_static(content_type);
        self.more.push((VARY, "Accept".into()));
        self
    }

    pub(super) fn with_warnings(mut self, warnings: &[String]) -> Self {
        for text in warnings {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\r', '\n'], " ");
            self.more.push((WARNING, format!("299 - \"{quoted}\"")));
        }
        self
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, self.content_type);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        for (name, value) in self.more {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.append(name, value);
            }
        }
        response
    }
}

/// The metadata of an object alone.
pub(super) fn partial(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

/// A list, serialized without copying its objects.
pub(super) struct ListOf<'a> {
    pub(super) kind: &'a Kind,
    pub(super) list: &'a List,
    pub(super) partial: bool,
}

impl Serialize for ListOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, list, partial } = self;
        let mut map = serializer.serialize_map(Some(4))?;
        if *partial {
            map.serialize_entry("kind", "PartialObjectMetadataList")?;
            map.serialize_entry("apiVersion", "meta.k8s.io/v1")?;
        } else {
            map.serialize_entry("kind", &format!("{}List", kind.kind))?;
            map.serialize_entry("apiVersion", &kind.api_version())?;
        }
        map.serialize_entry("metadata", &json!({"resourceVersion": list.revision.to_string()}))?;
        map.serialize_entry("items", &Items(self))?;
        map.end()
    }
}

struct Items<'a>(&'a ListOf<'a>);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ListOf { kind, list, partial } = self.0;
        serializer.collect_seq(list.items.iter().map(|stored| Item { kind, object: &stored.value, partial: *partial }))
    }
}

/// An item of a list. Only custom ones carry `apiVersion` and `kind`, as in the API server.
struct Item<'a> {
    kind: &'a Kind,
    object: &'a Value,
    partial: bool,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.partial {
            return partial(self.object).serialize(serializer);
        }
        let shown = events::outward(self.kind, self.object);
        if self.kind.custom().is_some() {
            return shown.serialize(serializer);
        }
        let members = shown.as_object().into_iter().flatten();
        serializer.collect_map(members.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind")))
    }
}
