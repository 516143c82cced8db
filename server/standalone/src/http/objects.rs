//! Requests for objects: the verb that a method means, and the shape in which the client wants the outcome.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, Answer, Reply};
use super::negotiate::{self, Shape};
use super::server::{Call, Server};
use super::{body, log, stream, table};
use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};
use crate::request::{DeleteOptions, ListOptions, Target, WatchOptions, WriteOptions};
use crate::verbs::{Deleted, List, Patch};
use crate::{events, object};

impl Server {
    /// Answers a request for a collection, an object or a subresource.
    pub(super) async fn objects(self: &Arc<Self>, target: Target, call: &Call, body: &Bytes) -> Answer {
        let kind = target.kind.clone();
        let reads = call.method == Method::GET;
        if kind.read_only() && !reads {
            return Err(Failure::method_not_allowed());
        }
        if kind.is_empty() && matches!(call.method, Method::POST | Method::PUT | Method::PATCH) {
            return Err(Failure::never_stored(&kind));
        }
        if target.subresource.as_deref() == Some("log") {
            return if reads { log::answer(self, &target, call).await } else { Err(Failure::method_not_allowed()) };
        }
        let shape = negotiate::accepted(call.accept.as_deref(), kind.custom().is_some())?;
        let show = Show { target: &target, shape, call };
        match (&call.method, &target.name) {
            (&Method::GET, Some(_)) => show.object(StatusCode::OK, &self.objects.get(&target)?.value, &[]),
            (&Method::GET, None) if call.query.flag("watch") => {
                stream::watch(self, &target, WatchOptions::parse(&kind, &call.query)?, shape, &call.query)
            }
            (&Method::GET, None) => show.list(&self.objects.list(&target, &ListOptions::parse(&kind, &call.query)?)?),
            (&Method::POST, None) if target.namespace.is_some() == kind.namespaced => {
                let (body, options) = whole_object(call, body, &kind)?;
                let written = self.objects.create(&target, body, &options, None).await?;
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
                self.delete_one(&show, &delete_options(call, body)?).await
            }
            (&Method::DELETE, None) => self.delete_all(&show, &delete_options(call, body)?).await,
            _ => Err(Failure::method_not_allowed()),
        }
    }

    async fn delete_one(&self, show: &Show<'_>, options: &DeleteOptions) -> Answer {
        let kind = &show.target.kind;
        let mut warnings = Vec::new();
        if kind.is(BuiltIn::Job) && options.propagation.is_none() {
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

/// The shape in which a client wants the objects of a target.
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

    fn list(&self, list: &List) -> Answer {
        let kind = &self.target.kind;
        if self.shape == Shape::Table {
            return Reply::value(StatusCode::OK, &table::of_list(kind, list, &self.call.query));
        }
        let partial = self.shape == Shape::Partial;
        Reply::value(StatusCode::OK, &answer::ListOf { kind, list, partial })
    }
}

/// Body and options of POST and PUT.
fn whole_object(call: &Call, body: &[u8], kind: &Kind) -> Result<(Value, WriteOptions), Failure> {
    let object = body::decode(&call.media_type, body, kind.built_in().is_some())?;
    Ok((object, WriteOptions::parse(&call.query, call.user_agent.as_deref())?))
}

fn patch(media_type: &str, body: &[u8]) -> Result<Patch, Failure> {
    match media_type {
        "application/merge-patch+json" => body::json(body).map(Patch::Merge),
        "application/json-patch+json" => body::json(body).map(Patch::Json),
        "application/strategic-merge-patch+json" => body::json(body).map(Patch::Strategic),
        // Most clients send JSON, which is faster to read.
        "application/apply-patch+yaml" => body::json(body).or_else(|_| body::yaml(body)).map(Patch::Apply),
        _ => Err(Failure::unsupported_media_type(&[
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml",
        ])),
    }
}

fn delete_options(call: &Call, body: &[u8]) -> Result<DeleteOptions, Failure> {
    let body = if body.is_empty() { json!({}) } else { body::decode(&call.media_type, body, true)? };
    DeleteOptions::parse(&body, &call.query)
}
