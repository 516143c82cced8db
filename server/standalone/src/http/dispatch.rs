//! From a request to its answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use bytes::Bytes;
use futures::FutureExt;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{Answer, Reply};
use super::negotiate::{self, Shape};
use super::route::{self, Route};
use super::server::{Call, Server};
use super::{body, discovery, openapi, reviews};
use crate::failure::Failure;
use crate::request::Query;

impl Server {
    /// Answers one request of `user`. A refusal is an answer, too, and a panic becomes a 500.
    pub(crate) async fn answer(self: &Arc<Self>, user: Arc<str>, request: Request<Body>) -> Response<Body> {
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
        let outcome = async {
            let route = route::route(parts.uri.path(), &self.objects.kinds)?;
            let body = body::read(body).await?;
            self.dispatch(route, &call, &body).await
        };
        let outcome = AssertUnwindSafe(outcome).catch_unwind().await.unwrap_or_else(|_| {
            self.panics.fetch_add(1, Ordering::Relaxed);
            tracing::error!(method = %call.method, path = parts.uri.path(), "a request to the Kubernetes API panicked");
            Err(Failure::internal("the server has a bug that this request triggers; its log has the details"))
        });
        outcome.unwrap_or_else(|failure| Reply::failure(&failure)).into_response()
    }

    async fn dispatch(self: &Arc<Self>, route: Route, call: &Call, body: &Bytes) -> Answer {
        match route {
            Route::Objects(target) => return self.objects(target, call, body).await,
            Route::Review(review) if call.method == Method::POST => {
                let decoded = body::decode(&call.media_type, body, true)?;
                return Ok(Reply::json(StatusCode::CREATED, &reviews::answer(self, review, decoded, &call.user)));
            }
            Route::Nothing => return nothing_here(),
            _ if call.method != Method::GET => return Err(Failure::method_not_allowed()),
            // Both are answered whatever the client accepts.
            Route::Version => {
                return Ok(Reply::ok(&json!({"major": "1", "minor": "36", "gitVersion": "v1.36.4", "gitCommit": "",
                "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z", "goVersion": "none", "compiler": "none",
                "platform": "kubeonkube/standalone"})));
            }
            Route::Health => return Ok(Reply::plain(StatusCode::OK, "ok")),
            // Its protobuf is not that of objects, so `negotiate` doesn't know it.
            Route::OpenApiV2 => return Ok(openapi::v2(call.accept.as_deref())),
            _ => {}
        }
        let shape = negotiate::document(call.accept.as_deref(), matches!(route, Route::Groups { .. }))?;
        let found = |document: Option<Value>| document.map_or_else(nothing_here, |document| Ok(Reply::ok(&document)));
        let kinds = &self.objects.kinds;
        match route {
            Route::Groups { core } if shape == Shape::Discovery => Ok(discovery::aggregated(kinds, core)),
            Route::Groups { core: true } => Ok(Reply::ok(&discovery::core_versions())),
            Route::Groups { core: false } => Ok(Reply::ok(&discovery::groups(kinds))),
            Route::Group(group) => found(discovery::group(kinds, &group)),
            Route::Resources { group, version } => found(discovery::resource_list(kinds, &group, &version)),
            Route::OpenApiIndex => Ok(Reply::ok(self.documents().index())),
            Route::OpenApi { group, version } => {
                let document = self.documents().document(&group, &version);
                document.map_or_else(nothing_here, |document| Ok(Reply::bytes(document)))
            }
            Route::Version
            | Route::Health
            | Route::Review(_)
            | Route::Objects(_)
            | Route::OpenApiV2
            | Route::Nothing => Err(Failure::method_not_allowed()),
        }
    }
}

fn nothing_here() -> Answer {
    Ok(Reply::plain(StatusCode::NOT_FOUND, "404 page not found\n"))
}
