//! The answer to a refused request: a Status with code, reason and message. Clients decide by `reason`, people read
//! `message`.

use std::fmt::Display;

use serde_json::{Map, Value, json};

use crate::cause::Cause;
use crate::kind::Kind;

/// The code of the answer to a write that failed because the disk is full (Insufficient Storage, RFC 4918).
pub const NO_ROOM: u16 = 507;

/// A refusal in the API server's words.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// Boxed to keep `Result<_, Failure>` small: most functions of this crate return one.
    pub(crate) details: Option<Box<Map<String, Value>>>,
}

impl Failure {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    /// Where the API server has no words for an error, its Status has a general sentence and empty details.
    fn general(code: u16, reason: &'static str, message: &str) -> Self {
        Self { details: Some(Box::default()), ..Self::new(code, reason, message) }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// The body can't be read as an object of the kind.
    pub(crate) fn unreadable(kind: &Kind, why: &impl Display) -> Self {
        Self::bad_request(format!("{0} in version \"{1}\" cannot be handled as a {0}: {why}", kind.kind, kind.version))
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// The path leads to a resource that isn't served.
    pub(crate) fn no_resource() -> Self {
        Self::general(404, "NotFound", "the server could not find the requested resource")
    }

    /// The details must be empty, not missing: `kubectl debug` reads a name in them.
    pub(crate) fn no_subresource(kind: &Kind, subresource: &str) -> Self {
        let Some(why) = kind.why_without(subresource) else { return Self::no_resource() };
        Self::general(404, "NotFound", &format!("{}/{subresource} is not served: {why}", kind.resource))
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.resource);
        Self::new(404, "NotFound", message).about(name, &kind.group, &kind.plural)
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str, deleting: bool) -> Self {
        let prefix = if deleting { "object is being deleted: " } else { "" };
        let message = format!("{prefix}{} \"{name}\" already exists", kind.resource);
        Self::new(409, "AlreadyExists", message).about(name, &kind.group, &kind.plural)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.resource);
        Self::new(409, "Conflict", message).about(name, &kind.group, &kind.plural)
    }

    /// Another client changed the object after the caller had read it.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::general(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    /// The kind is one of those without objects.
    pub(crate) fn never_stored(kind: &Kind) -> Self {
        let why = "because standalone mode runs only Jobs. Use a real Kubernetes cluster.";
        Self::new(405, "MethodNotAllowed", format!("this API can't store {}, {why}", kind.resource))
    }

    /// A JSON patch that doesn't fit the object, such as a failed `test`. The API server doesn't say which step failed.
    pub(crate) fn unfit_patch() -> Self {
        Self::general(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let list = accepted.join(", ");
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {list}");
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        let full = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
        Self::invalid_named(&full, &kind.kind, &kind.group, name, causes)
    }

    /// 422 for options of a request, such as `DeleteOptions` or `ListOptions`.
    pub(crate) fn invalid_options(options: &str, causes: &[Cause]) -> Self {
        Self::invalid_named(&format!("{options}.meta.k8s.io"), options, "meta.k8s.io", "", causes)
    }

    pub(crate) fn invalid_named(full: &str, kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let mut texts: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        texts.dedup();
        let text = if let [one] = texts.as_slice() { one.clone() } else { format!("[{}]", texts.join(", ")) };
        let message = format!("{full} \"{name}\" is invalid: {text}");
        Self::new(422, "Invalid", message).about(name, group, kind).with_causes(causes)
    }

    /// Names the object in `details`. Empty parts are left out.
    pub(crate) fn about(mut self, name: &str, group: &str, kind: &str) -> Self {
        for (field, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                self.details.get_or_insert_default().insert(field.into(), value.into());
            }
        }
        self
    }

    pub(crate) fn with_causes(mut self, causes: &[Cause]) -> Self {
        self.details.get_or_insert_default().insert("causes".into(), causes.iter().map(Cause::json).collect());
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().insert("retryAfterSeconds".into(), seconds.into());
        self
    }

    /// The `Status` object that clients get.
    pub(crate) fn status(&self) -> Value {
        let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code});
        if let Some(details) = &self.details {
            status["details"] = Value::Object((**details).clone());
        }
        status
    }
}
