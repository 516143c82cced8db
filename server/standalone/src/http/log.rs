//! `GET …/pods/x/log`: which container, which lines, and the refusals of the API server.

use axum::body::Body;
use futures::StreamExt;
use http::{HeaderValue, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::answer::{Answer, Reply};
use super::negotiate;
use super::server::{Call, Server};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::object;
use crate::pod_log::{LogQuery, LogRefusal, LogSource};
use crate::request::{Query, Target};

pub(super) async fn answer(server: &Server, target: &Target, call: &Call) -> Answer {
    // Like the API server, refuse a client that accepts only text/plain, although the log is just that.
    negotiate::accepted(call.accept.as_deref(), false)?;
    let pod = server.objects.get(target)?;
    let name = object::name(&pod.value);
    let query = parse(&call.query, name)?;
    let container = container(&pod.value, call.query.get("container"))?;
    let node = pod.value.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    if node.is_empty() {
        return Ok(Reply::plain(StatusCode::NO_CONTENT, ""));
    }
    let source = LogSource {
        namespace: object::namespace(&pod.value).to_owned(),
        pod: name.to_owned(),
        uid: object::uid(&pod.value).to_owned(),
        container: container.clone(),
    };
    let stream = server.logs.open(&source, &query).await.map_err(|refusal| match refusal {
        LogRefusal::NotStarted(_) => {
            Failure::bad_request(format!("container \"{container}\" in pod \"{name}\" {refusal}"))
        }
        LogRefusal::NoPrevious => {
            let message = format!("previous terminated container \"{container}\" in pod \"{name}\" not found");
            Failure::bad_request(message)
        }
        LogRefusal::Unreadable(_) => Failure::internal(refusal.to_string()),
    })?;
    let until = server.shutdown.clone().cancelled_owned();
    let body = Body::from_stream(stream.take_until(Box::pin(until)));
    Ok(Reply::stream(HeaderValue::from_static("text/plain"), body))
}

fn parse(query: &Query, pod: &str) -> Result<LogQuery, Failure> {
    let mut causes = Vec::new();
    let mut number = |name: &str, least: i64| -> Result<Option<i64>, Failure> {
        let value = query.number(name)?;
        if let Some(value) = value.filter(|value| *value < least) {
            let why = if least == 0 { "must be greater than or equal to 0" } else { "must be greater than 0" };
            causes.push(Cause::invalid(name, &json!(value), why));
        }
        Ok(value)
    };
    let tail_lines = number("tailLines", 0)?;
    let limit_bytes = number("limitBytes", 1)?;
    let since_seconds = number("sinceSeconds", 1)?;
    let since_time = query.get("sinceTime").map(|text| {
        let parsed = text.parse::<Timestamp>();
        parsed.map_err(|_| {
            Failure::bad_request(format!("sinceTime must be a time such as 2026-01-02T15:04:05Z, not {text:?}"))
        })
    });
    let since_time = since_time.transpose()?;
    if since_seconds.is_some() && since_time.is_some() {
        causes.push(Cause::forbidden("sinceSeconds", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
    }
    if query.get("stream").is_some_and(|stream| stream != "All") {
        causes.push(Cause::forbidden("stream", "may not be specified"));
    }
    if !causes.is_empty() {
        return Err(Failure::invalid_options("PodLogOptions", &causes).about(pod, "", ""));
    }
    // The API server's times have whole seconds. Cutting the fraction may repeat lines to the client, but loses none.
    let since_time = since_time.and_then(|time| Timestamp::from_second(time.as_second()).ok());
    let since = since_time
        .or_else(|| since_seconds.and_then(|ago| Timestamp::now().checked_sub(SignedDuration::from_secs(ago)).ok()));
    Ok(LogQuery {
        follow: query.flag("follow"),
        previous: query.flag("previous"),
        timestamps: query.flag("timestamps"),
        tail_lines: tail_lines.map(i64::unsigned_abs),
        limit_bytes: limit_bytes.map(i64::unsigned_abs),
        since,
    })
}

fn container(pod: &Value, wanted: Option<&str>) -> Result<String, Failure> {
    let list = |field: &str| {
        let containers = pod.pointer(&format!("/spec/{field}")).and_then(Value::as_array).into_iter().flatten();
        containers.map(|container| object::text(container, "name").to_owned()).collect::<Vec<_>>()
    };
    let (names, init) = (list("containers"), list("initContainers"));
    let pod = object::name(pod);
    match (wanted, names.as_slice()) {
        (Some(wanted), names) if names.iter().chain(&init).any(|known| known == wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => Err(Failure::bad_request(format!("container {wanted} is not valid for pod {pod}"))),
        (None, [only]) => Ok(only.clone()),
        (None, names) => {
            let choice = names.join(" ");
            let message = format!("a container name must be specified for pod {pod}, choose one of: [{choice}]");
            Err(Failure::bad_request(message))
        }
    }
}
