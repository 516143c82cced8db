//! Writes YAML scalars that mean the same in YAML 1.1 and 1.2.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use serde_json::Value;

/// `text` as a YAML string: plain if it can only be a string, otherwise in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { double_quoted(text) }
}

/// Any value, on one line: lists and mappings in flow style.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => match n.as_f64().filter(|_| n.is_f64()) {
            // In YAML 1.1 a float needs a point, and its exponent a sign. So the exponent is avoided.
            Some(f) if f.fract() == 0.0 => format!("{f}.0"),
            Some(f) => format!("{f}"),
            None => n.to_string(),
        },
        Value::String(s) => scalar(s),
        Value::Array(items) => format!("[{}]", items.iter().map(self::value).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entry = |(k, v): (&String, &Value)| format!("{}: {}", double_quoted(k), self::value(v));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether `text` is an IPv4 address, or a word that starts with a letter and means nothing special in YAML.
fn is_plain(text: &str) -> bool {
    const OWN: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    text.parse::<Ipv4Addr>().is_ok()
        || (text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./@".contains(c))
            && !OWN.contains(&text.to_ascii_lowercase().as_str()))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            // Letters of other scripts stay readable. Separators and control characters are escaped.
            c if c.is_alphanumeric() => out.push(c),
            c if u32::from(c) <= 0xFFFF => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
