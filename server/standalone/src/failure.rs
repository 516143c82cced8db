//! What a refused request gets: a Status with reason, message and code. Clients decide by `reason`, people read
//! `message`.

use serde_json::{Map, Value, json};

use crate::kind::Kind;

/// A refusal, as the apiserver words it.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// Boxed: failures travel through many small functions.
    pub(crate) details: Box<Map<String, Value>>,
}

/// One thing that is wrong with a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Cause {
    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let message = if why.is_empty() { "Required value".into() } else { format!("Required value: {why}") };
        Self { reason: "FieldValueRequired", field: field.into(), message }
    }

    /// `value` is shown as JSON.
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {}: {why}", shown(value)),
        }
    }

    pub(crate) fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self { reason: "FieldValueForbidden", field: field.into(), message: format!("Forbidden: {why}") }
    }
}

/// Objects and lists are named by their type: their content would fill the screen.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "\"object\"".into(),
        Value::Array(_) => "\"array\"".into(),
        Value::Null => "\"null\"".into(),
        other => other.to_string(),
    }
}

impl Failure {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Box::default() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// The path names nothing that is served.
    pub(crate) fn no_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", kind.resource)).about(
            name,
            &kind.group,
            &kind.plural,
        )
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

    /// The object was written by somebody else since the caller read it.
    pub(crate) fn stale(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        let full = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
        Self::invalid_named(&full, &kind.kind, &kind.group, name, causes)
    }

    /// 422 about something that is not a stored kind, such as delete or list options.
    pub(crate) fn invalid_options(options: &str, causes: &[Cause]) -> Self {
        Self::invalid_named(&format!("{options}.meta.k8s.io"), options, "meta.k8s.io", "", causes)
    }

    fn invalid_named(full: &str, kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let mut texts: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        texts.dedup();
        let text = if let [one] = texts.as_slice() { one.clone() } else { format!("[{}]", texts.join(", ")) };
        let mut failure =
            Self::new(422, "Invalid", format!("{full} \"{name}\" is invalid: {text}")).about(name, group, kind);
        failure.details.insert("causes".into(), causes_json(causes));
        failure
    }

    pub(crate) fn about(mut self, name: &str, group: &str, kind: &str) -> Self {
        for (field, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                self.details.insert(field.into(), value.into());
            }
        }
        self
    }

    pub(crate) fn with_causes(mut self, causes: &[Cause]) -> Self {
        self.details.insert("causes".into(), causes_json(causes));
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.insert("retryAfterSeconds".into(), seconds.into());
        self
    }

    pub(crate) fn status(&self) -> Value {
        let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code});
        if !self.details.is_empty() {
            status["details"] = Value::Object((*self.details).clone());
        }
        status
    }
}

fn causes_json(causes: &[Cause]) -> Value {
    let list = causes.iter().map(|c| json!({"reason": c.reason, "message": c.message, "field": c.field}));
    list.collect()
}
