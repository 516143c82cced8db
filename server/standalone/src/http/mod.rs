//! The wire: requests in, answers out. Everything that refuses says so with a Status.

mod answer;
pub(crate) mod body;
mod discovery;
mod log;
pub(crate) mod negotiate;
mod openapi;
mod protobuf;
pub(crate) mod query;
mod reviews;
pub(crate) mod route;
mod stream;
mod table;

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};
use crate::pod_log::PodLogs;
use crate::verbs::{DeleteOptions, Deleted, ListOptions, Objects, Patch, WatchOptions};
use crate::{events, object};

use answer::{Answer, Reply};
use negotiate::Shape;
use query::{Query, WriteOptions};
use route::{Route, Target};

/// Everything a request can need.
pub(crate) struct Server {
    pub(crate) objects: Arc<Objects>,
    pub(crate) logs: Arc<dyn PodLogs>,
    /// Ends watches and followed logs.
    pub(crate) shutdown: CancellationToken,
    /// The token of the HTTPS port; reviews of tokens compare with it.
    pub(crate) token: String,
    documents: OnceLock<openapi::Documents>,
}

/// The parts of a request that decide, with the body still unread.
struct Call {
    method: Method,
    query: Query,
    accept: Option<String>,
    media_type: String,
    user_agent: Option<String>,
    user: Arc<str>,
}

impl Server {
    pub(crate) fn new(
        objects: Arc<Objects>,
        logs: Arc<dyn PodLogs>,
        shutdown: CancellationToken,
        token: String,
    ) -> Self {
        Self { objects, logs, shutdown, token, documents: OnceLock::new() }
    }

    /// Answers one request of an authenticated user. Never fails: a refusal is an answer too.
    pub(crate) async fn answer<B>(self: &Arc<Self>, user: Arc<str>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let call = Call {
            method: parts.method,
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            accept: header(ACCEPT),
            media_type: body::media_type(header(CONTENT_TYPE).as_deref()),
            user_agent: header(USER_AGENT),
            user,
        };
        let outcome = match route::route(parts.uri.path(), &self.objects.kinds) {
            Ok(route) => match body::read(body).await {
                Ok(body) => self.dispatch(route, &call, &body).await,
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        outcome.unwrap_or_else(|failure| Reply::failure(&failure)).into_response()
    }

    async fn dispatch(self: &Arc<Self>, route: Route, call: &Call, body: &Bytes) -> Answer {
        match route {
            Route::Objects(target) => return self.objects(target, call, body).await,
            Route::Review(review) if call.method == Method::POST => {
                let decoded = body::decode(&call.media_type, body, true)?;
                return Ok(Reply::json(StatusCode::CREATED, &reviews::answer(self, review, decoded, &call.user)));
            }
            Route::Nothing => return Ok(Reply::plain(StatusCode::NOT_FOUND, "404 page not found\n")),
            _ if call.method != Method::GET => return Err(Failure::method_not_allowed()),
            _ => {}
        }
        let shape = negotiate::accepted(call.accept.as_deref(), false)?;
        let kinds = &self.objects.kinds;
        match route {
            Route::Version => {
                Ok(Reply::ok(&json!({"major": "1", "minor": "34", "gitVersion": "v1.34.4", "gitCommit": "",
                "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z", "goVersion": "none", "compiler": "none",
                "platform": "kubeonkube/standalone"})))
            }
            Route::Health => Ok(Reply::plain(StatusCode::OK, "ok")),
            Route::Groups { core } if shape == Shape::Discovery => Ok(discovery::aggregated(kinds, core)),
            Route::Groups { .. } => Err(Failure::new(406, "NotAcceptable", discovery::ONLY_AGGREGATED)),
            Route::OpenApiIndex => Ok(Reply::ok(self.documents().index())),
            Route::OpenApi { group, version } => {
                let document = self.documents().document(&group, &version);
                document.map_or_else(nothing_here, |document| Ok(Reply::bytes(document)))
            }
            Route::Review(_) | Route::Objects(_) | Route::Nothing => Err(Failure::method_not_allowed()),
        }
    }

    /// The answer to a request that isn't looked at any further.
    pub(crate) fn refused(failure: &Failure) -> Response<Body> {
        Reply::failure(failure).into_response()
    }

    fn documents(&self) -> &openapi::Documents {
        self.documents.get_or_init(|| openapi::Documents::new(&self.objects.kinds))
    }

    async fn objects(self: &Arc<Self>, target: Target, call: &Call, body: &Bytes) -> Answer {
        let kind = target.kind.clone();
        let reads = call.method == Method::GET;
        if kind.read_only() && !reads {
            return Err(Failure::method_not_allowed());
        }
        if target.subresource.as_deref() == Some("log") {
            return if reads { log::answer(self, &target, call).await } else { Err(Failure::method_not_allowed()) };
        }
        let shape = negotiate::accepted(call.accept.as_deref(), kind.custom().is_some())?;
        if shape == Shape::Discovery {
            return Err(Failure::new(406, "NotAcceptable", "objects can't be shown as discovery documents"));
        }
        let show = Show { target: &target, shape, call };
        match (&call.method, &target.name) {
            (&Method::GET, Some(_)) => show.object(StatusCode::OK, &self.objects.get(&target)?.value, &[]),
            (&Method::GET, None) if call.query.flag("watch") => {
                let options = WatchOptions::parse(&kind, &call.query)?;
                stream::watch(self, &target, options, shape, &call.query)
            }
            (&Method::GET, None) => {
                let options = ListOptions::parse(&kind, &call.query)?;
                show.list(&self.objects.list(&target, &options)?)
            }
            (&Method::POST, None) if target.namespace.is_some() == kind.namespaced => {
                let (body, options) = whole_object(call, body, &kind)?;
                let written = self.objects.create(&target, body, &options).await?;
                show.object(StatusCode::CREATED, &written.object, &written.warnings)
            }
            (&Method::PUT, Some(_)) => {
                let (body, options) = whole_object(call, body, &kind)?;
                let written = self.objects.replace(&target, body, &options).await?;
                show.object(StatusCode::OK, &written.object, &written.warnings)
            }
            (&Method::PATCH, Some(_)) => {
                let patch = patch(&call.media_type, body)?;
                let options = WriteOptions::parse(&call.query, call.user_agent.as_deref())?;
                let written = self.objects.patch(&target, &patch, &options).await?;
                let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
                show.object(status, &written.object, &written.warnings)
            }
            (&Method::DELETE, Some(_)) if target.subresource.is_none() => {
                let options = delete_options(call, body)?;
                self.delete_one(&show, &options).await
            }
            (&Method::DELETE, None) => {
                let options = delete_options(call, body)?;
                self.delete_all(&show, &options).await
            }
            _ => Err(Failure::method_not_allowed()),
        }
    }

    async fn delete_one(&self, show: &Show<'_>, options: &DeleteOptions) -> Answer {
        let kind = &show.target.kind;
        let mut warnings = Vec::new();
        if kind.is(BuiltIn::Job) && !options.propagation_given() {
            warnings.push("child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning".to_owned());
        }
        match self.objects.delete(show.target, options).await? {
            Deleted::Gone(gone) if !kind.is(BuiltIn::Pod) => {
                let mut details = json!({"name": object::name(&gone), "kind": kind.plural, "uid": object::uid(&gone)});
                if !kind.group.is_empty() {
                    details["group"] = kind.group.as_str().into();
                }
                let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
                Ok(Reply::json(StatusCode::OK, &status).with_warnings(&warnings))
            }
            Deleted::Gone(object) | Deleted::Ending(object) => show.object(StatusCode::OK, &object, &warnings),
        }
    }

    async fn delete_all(&self, show: &Show<'_>, options: &DeleteOptions) -> Answer {
        let kind = &show.target.kind;
        if kind.namespaced && show.target.namespace.is_none() {
            return Err(Failure::method_not_allowed());
        }
        let list = self.objects.list(show.target, &ListOptions::parse(kind, &show.call.query)?)?;
        for stored in &list.items {
            let target = Target { name: Some(object::name(&stored.value).to_owned()), ..show.target.clone() };
            match self.objects.delete(&target, options).await {
                Err(failure) if failure.code != 404 => return Err(failure),
                _ => {}
            }
        }
        show.list(&list)
    }
}

/// How one client wants to see the objects of one target.
struct Show<'a> {
    target: &'a Target,
    shape: Shape,
    call: &'a Call,
}

impl Show<'_> {
    fn object(&self, status: StatusCode, stored: &Value, warnings: &[String]) -> Answer {
        let kind = &self.target.kind;
        let shown = events::outward(kind, stored);
        let reply = match self.shape {
            Shape::Table => Reply::value(status, &table::of_one(kind, stored, &self.call.query, true))?,
            Shape::Partial => Reply::value(status, &answer::partial(&shown))?,
            _ => Reply::value(status, &*shown)?,
        };
        Ok(reply.with_warnings(warnings))
    }

    fn list(&self, list: &crate::verbs::List) -> Answer {
        let kind = &self.target.kind;
        if self.shape == Shape::Table {
            return Reply::value(StatusCode::OK, &table::of_list(kind, list, &self.call.query));
        }
        let partial = self.shape == Shape::Partial;
        Reply::value(StatusCode::OK, &answer::ListOf { kind, list, partial })
    }
}

/// The body and options of POST and PUT.
fn whole_object(call: &Call, body: &[u8], kind: &Kind) -> Result<(Value, WriteOptions), Failure> {
    let object = body::decode(&call.media_type, body, kind.built_in().is_some())?;
    Ok((object, WriteOptions::parse(&call.query, call.user_agent.as_deref())?))
}

fn patch(media_type: &str, body: &[u8]) -> Result<Patch, Failure> {
    match media_type {
        "application/merge-patch+json" => body::json(body).map(Patch::Merge),
        "application/json-patch+json" => body::json(body).map(Patch::Json),
        "application/strategic-merge-patch+json" => body::json(body).map(Patch::Strategic),
        // kubectl and kube-rs send JSON here, which is YAML too.
        "application/apply-patch+yaml" => body::json(body).map(Patch::Apply),
        _ => Err(body::unsupported(&[
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml",
        ])),
    }
}

fn delete_options(call: &Call, body: &[u8]) -> Result<DeleteOptions, Failure> {
    let body = if body.is_empty() { Value::Null } else { body::decode(&call.media_type, body, true)? };
    DeleteOptions::parse(&body, &call.query)
}

fn nothing_here() -> Answer {
    Ok(Reply::plain(StatusCode::NOT_FOUND, "404 page not found\n"))
}
