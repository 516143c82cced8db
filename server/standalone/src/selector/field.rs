//! Field selectors: `metadata.name=x,status.phase!=Running`.

use serde_json::Value;

use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};

/// Field, whether it must be equal, and the value.
#[derive(Debug, Default)]
pub(super) struct FieldSelector(Vec<(String, bool, String)>);

impl FieldSelector {
    pub(super) fn parse(kind: &Kind, text: &str) -> Result<Self, Failure> {
        let mut terms = Vec::new();
        for term in split(text) {
            let Some((field, equal, value)) = parts(term) else {
                return Err(Failure::bad_request(format!("invalid selector: '{text}'; can't understand '{term}'")));
            };
            if !supported(kind, field) {
                return Err(Failure::bad_request(unsupported(kind, field)));
            }
            terms.push((field.to_owned(), equal, unescape(value)));
        }
        Ok(Self(terms))
    }

    pub(super) fn matches(&self, kind: &Kind, object: &Value) -> bool {
        self.0.iter().all(|(field, equal, wanted)| (value(kind, object, field) == *wanted) == *equal)
    }
}

/// Splits at commas. An escaped comma (`\\,`) is part of a value.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let separates = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        separates
    })
    .filter(|term| !term.trim().is_empty())
}

fn parts(term: &str) -> Option<(&str, bool, &str)> {
    let term = term.trim();
    let at = term.find(['=', '!'])?;
    let (field, rest) = term.split_at(at);
    let (equal, value) = [("==", true), ("!=", false), ("=", true)]
        .into_iter()
        .find_map(|(sign, equal)| rest.strip_prefix(sign).map(|value| (equal, value)))?;
    Some((field.trim(), equal, value))
}

fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut escaped = false;
    for c in value.chars() {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            plain.push(c);
            escaped = false;
        }
    }
    plain
}

fn supported(kind: &Kind, field: &str) -> bool {
    let own: &[&str] = match kind.built_in() {
        None => {
            let custom = kind.custom().map(|custom| custom.selectable.as_slice()).unwrap_or_default();
            return field == "metadata.name"
                || (field == "metadata.namespace" && kind.namespaced)
                || custom.iter().any(|path| path.strip_prefix('.') == Some(field));
        }
        Some(BuiltIn::Job) => &["status.successful"],
        Some(BuiltIn::Pod) => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
        ],
        Some(BuiltIn::Secret) => &["type"],
        Some(BuiltIn::Namespace) => &["status.phase"],
        Some(BuiltIn::Event | BuiltIn::NewEvent) => {
            let object = field.strip_prefix("involvedObject.").or_else(|| field.strip_prefix("regarding."));
            if let Some(part) = object {
                return ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"]
                    .contains(&part);
            }
            &["reason", "type", "source", "reportingComponent", "reportingController"]
        }
        Some(_) => &[],
    };
    matches!(field, "metadata.name" | "metadata.namespace") || own.contains(&field)
}

/// The API server words it differently for kinds without fields of their own.
fn unsupported(kind: &Kind, field: &str) -> String {
    match kind.built_in() {
        Some(BuiltIn::ConfigMap | BuiltIn::ServiceAccount | BuiltIn::Lease | BuiltIn::Role | BuiltIn::RoleBinding) => {
            let known = "only \"metadata.name\", \"metadata.namespace\"";
            format!("\"{field}\" is not a known field selector: {known}")
        }
        _ => format!("field label not supported: {field}"),
    }
}

fn value(kind: &Kind, object: &Value, field: &str) -> String {
    let path = match (kind.built_in(), field) {
        (Some(BuiltIn::Job), "status.successful") => "status.succeeded".to_owned(),
        // Events are matched in their stored form, `v1`.
        (Some(BuiltIn::NewEvent), field) if field.starts_with("regarding.") => {
            field.replacen("regarding", "involvedObject", 1)
        }
        (Some(BuiltIn::Event | BuiltIn::NewEvent), "reportingController") => "reportingComponent".into(),
        (Some(BuiltIn::Event | BuiltIn::NewEvent), "source") => {
            let source = object.pointer("/source/component").or_else(|| object.get("reportingComponent"));
            return source.and_then(Value::as_str).unwrap_or_default().to_owned();
        }
        (_, field) => field.to_owned(),
    };
    match object.pointer(&format!("/{}", path.replace('.', "/"))) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None if path == "status.succeeded" => "0".into(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
