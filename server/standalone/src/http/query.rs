//! The query of a request, parsed once.

use crate::failure::{Cause, Failure};

/// Name and value pairs. kube-rs starts its queries with an empty pair (`?&limit=500`), which means nothing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().filter(|(name, _)| !name.is_empty()).collect())
    }

    /// The last non-empty value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        found.filter(|value| !value.is_empty())
    }

    /// True unless absent, `0` or `false`, as the apiserver reads booleans.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A whole number, or 400 that names the parameter.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| Failure::bad_request(format!("{name} must be a whole number, not {text:?}")))
    }

    /// A resourceVersion: a revision of the store, or 400.
    pub(crate) fn revision(&self, name: &str) -> Result<Option<u64>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| Failure::bad_request(format!("invalid resource version \"{text}\": must be a number")))
    }
}

/// What a writing request asks for beside its body.
#[derive(Debug, Clone)]
pub(crate) struct WriteOptions {
    pub(crate) manager: String,
    pub(crate) manager_named: bool,
    pub(crate) force: Option<bool>,
    pub(crate) dry_run: bool,
    pub(crate) unknown_fields: UnknownFields,
}

/// What happens to fields that the kind doesn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownFields {
    Ignore,
    Warn,
    Refuse,
}

impl WriteOptions {
    pub(crate) fn parse(query: &Query, user_agent: Option<&str>) -> Result<Self, Failure> {
        let named = query.get("fieldManager");
        // The part of the User-Agent before the slash names a client that doesn't name itself.
        let agent = user_agent.and_then(|agent| agent.split('/').next()).filter(|agent| !agent.is_empty());
        let manager = named.or(agent).unwrap_or("unknown");
        if manager.chars().count() > 128 {
            let cause = Cause {
                reason: "FieldValueTooLong",
                field: "fieldManager".into(),
                message: "Too long: may not be more than 128 bytes".into(),
            };
            return Err(Failure::invalid_options("PatchOptions", &[cause]));
        }
        let unknown_fields = match query.get("fieldValidation") {
            None | Some("Warn") => UnknownFields::Warn,
            Some("Ignore") => UnknownFields::Ignore,
            Some("Strict") => UnknownFields::Refuse,
            Some(other) => return Err(not_supported("fieldValidation", other, "\"Ignore\", \"Strict\", \"Warn\"")),
        };
        Ok(Self {
            manager: manager.to_owned(),
            manager_named: named.is_some(),
            force: query.get("force").map(|_| query.flag("force")),
            dry_run: dry_run(query.get("dryRun"))?,
            unknown_fields,
        })
    }

    /// What the server itself writes.
    pub(crate) fn internal(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            manager_named: true,
            force: None,
            dry_run: false,
            unknown_fields: UnknownFields::Ignore,
        }
    }
}

pub(crate) fn dry_run(value: Option<&str>) -> Result<bool, Failure> {
    match value {
        None => Ok(false),
        Some("All") => Ok(true),
        Some(other) => Err(not_supported("dryRun", other, "\"All\"")),
    }
}

pub(crate) fn not_supported(field: &str, value: &str, supported: &str) -> Failure {
    let message = format!("Unsupported value: \"{value}\": supported values: {supported}");
    Failure::invalid_options("Options", &[Cause { reason: "FieldValueNotSupported", field: field.into(), message }])
}
