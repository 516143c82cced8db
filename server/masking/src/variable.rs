//! Which variables a summary of changes mentions without their values.

use serde_json::Value;

use crate::document::hide_lines;
use crate::known;
use crate::name::is_secret_name;
use crate::value::{VAULT, is_harmless};

/// Whether a summary must not mention the value of this variable. A map is always secret: it may contain one. So is
/// every URL with an `@`: it may contain a login, however it is written.
#[must_use]
pub fn is_secret(name: &str, value: &Value) -> bool {
    let named = is_secret_name(name);
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => named,
        Value::String(text) => {
            let may_have_login = text.contains("://") && text.contains('@');
            (named && !is_harmless(name, text.trim()))
                || may_have_login
                || text.contains(VAULT)
                || hide_lines(text) != *text
                || !known::secrets(text).is_empty()
        }
        Value::Array(items) => items.iter().any(|item| is_secret(name, item)),
        Value::Object(_) => true,
    }
}
