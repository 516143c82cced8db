//! Which values are harmless under a secret name, and which are secret under any name.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::{document::hide_in_document, name::is_secret_name, pattern};

/// Switches and empty values.
const HARMLESS: [&str; 13] = ["", "true", "false", "yes", "no", "on", "off", "null", "none", "~", "{}", "[]", "omit"];

/// What encrypted values start with.
pub(crate) const VAULT: &str = "$ANSIBLE_VAULT";

/// A file below a top-level directory of Linux or of a run's pod. A leading `/` alone doesn't prove a path: one of 64 base64
/// values starts with it.
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^/(?:auth|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)(?:/[\w.@-]+)*/?$")
});

/// Whether a value may be shown although its name is secret.
pub(crate) fn is_harmless(value: &str) -> bool {
    HARMLESS.iter().any(|word| value.eq_ignore_ascii_case(word)) || FILE.is_match(value)
}

/// Whether a summary must not mention the value of this variable. A map is always secret: it may contain one.
#[must_use]
pub fn is_secret(name: &str, value: &Value) -> bool {
    let named = is_secret_name(name);
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => named,
        Value::String(text) => {
            (named && !is_harmless(text.trim())) || text.contains(VAULT) || hide_in_document(text) != *text
        }
        Value::Array(items) => items.iter().any(|item| is_secret(name, item)),
        Value::Object(_) => true,
    }
}
