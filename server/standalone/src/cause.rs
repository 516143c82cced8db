//! What is wrong with one field: the entries of `details.causes` in a Status.

use std::fmt::Display;

use serde_json::{Value, json};

/// One invalid field. `reason` and `message` have the API server's words: clients compare the first, people read the
/// second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    /// The path of the field, such as `spec.parts[1].name`.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Cause {
    pub(crate) fn new(reason: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { reason, field: field.into(), message: message.into() }
    }

    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let message = if why.is_empty() { "Required value".into() } else { format!("Required value: {why}") };
        Self::new("FieldValueRequired", field, message)
    }

    /// `value` is shown as JSON.
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {}: {why}", shown(value)))
    }

    pub(crate) fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    /// `supported` lists the allowed values, quoted and separated by commas.
    pub(crate) fn not_supported(field: impl Into<String>, value: &Value, supported: &str) -> Self {
        let message = format!("Unsupported value: {}: supported values: {supported}", shown(value));
        Self::new("FieldValueNotSupported", field, message)
    }

    /// The API server says "bytes" even where it counts characters.
    pub(crate) fn too_long(field: impl Into<String>, limit: usize) -> Self {
        Self::new("FieldValueTooLong", field, format!("Too long: may not be more than {limit} bytes"))
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: &impl Display) -> Self {
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {value}"))
    }

    pub(crate) fn json(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }
}

/// A value as messages show it. Objects and lists are named by their type, because their content would fill the screen.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "\"object\"".into(),
        Value::Array(_) => "\"array\"".into(),
        Value::Null => "\"null\"".into(),
        other => other.to_string(),
    }
}
