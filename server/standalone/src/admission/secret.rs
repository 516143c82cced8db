//! Secrets: plain text becomes base64, and the types that the API server knows have required keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::field::{default_to, unchanged};
use super::plain::{decoded_length, immutable, keys, members, size};
use crate::cause::Cause;
use crate::object;

pub(super) fn admit(old: Option<&Value>, secret: &mut Value, causes: &mut Vec<Cause>) {
    if let Some(Value::Object(texts)) = object::entries(secret).shift_remove("stringData") {
        let data = object::member(secret, "data");
        for (key, text) in texts {
            data.insert(key, STANDARD.encode(text.as_str().unwrap_or_default()).into());
        }
    }
    default_to(object::entries(secret), "type", "Opaque");
    if let Some(old) = old {
        unchanged(old, secret, "/type", "type", causes);
        immutable(old, secret, &["data"], causes);
    }
    size(members(secret, "data").map(|(_, value)| decoded_length(value)).sum(), "data", causes);
    keys(secret, "data", causes);
    of_type(secret, causes);
}

/// The rules of the Secret's type. A type that isn't listed has none.
fn of_type(secret: &Value, causes: &mut Vec<Cause>) {
    const ACCOUNT: &str = "kubernetes.io/service-account.name";
    let data = |key: &str| secret.get("data")?.get(key)?.as_str();
    let mut require = |missing: bool, keys: &[&str]| {
        let missing = keys.iter().filter(|_| missing);
        causes.extend(missing.map(|key| Cause::required(format!("data[{key}]"), "")));
    };
    match object::text(secret, "type") {
        "kubernetes.io/ssh-auth" => {
            require(data("ssh-privatekey").is_none_or(str::is_empty), &["ssh-privatekey"]);
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"] {
                require(data(key).is_none(), &[key]);
            }
        }
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            require(keys.iter().all(|key| data(key).is_none()), &keys);
        }
        "kubernetes.io/dockercfg" => registry(data(".dockercfg"), "data[.dockercfg]", causes),
        "kubernetes.io/dockerconfigjson" => registry(data(".dockerconfigjson"), "data[.dockerconfigjson]", causes),
        "kubernetes.io/service-account-token" => {
            let account = secret.pointer("/metadata/annotations").and_then(|all| all.get(ACCOUNT)?.as_str());
            if account.is_none_or(str::is_empty) {
                causes.push(Cause::required(format!("metadata.annotations[{ACCOUNT}]"), ""));
            }
        }
        _ => {}
    }
}

/// The credentials of a registry must be a JSON object. The messages are those of Go's decoder.
fn registry(encoded: Option<&str>, field: &str, causes: &mut Vec<Cause>) {
    let Some(encoded) = encoded else { return causes.push(Cause::required(field, "")) };
    let text = String::from_utf8_lossy(&STANDARD.decode(encoded).unwrap_or_default()).into_owned();
    let why = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            let kind = match other {
                Value::Array(_) => "array",
                Value::String(_) => "string",
                Value::Bool(_) => "bool",
                _ => "number",
            };
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
        }
        Err(error) if error.is_eof() => "unexpected end of JSON input".into(),
        Err(error) => {
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            let wrong = line.chars().nth(error.column().saturating_sub(1)).unwrap_or_default();
            format!("invalid character '{wrong}' looking for beginning of value")
        }
    };
    causes.push(Cause::invalid(field, &"<secret contents redacted>".into(), &why));
}
