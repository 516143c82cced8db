//! Other texts that are as secret as a value, because programs read them from it.

use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::{Captures, Regex};

use crate::forms::{SHORTEST, SHORTEST_LINE, lines_with_secrets};
use crate::name::{EDGES, ENDS, LAST, STEMS};
use crate::pattern::pattern;
use crate::shapes::LOGIN;
use crate::words::is_word;

/// Accepts missing padding.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ALPHABETS: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&alphabet::STANDARD, LENIENT), GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT)];
/// Shorter words are base64 by chance.
const SHORTEST_ENCODED: usize = 8;

/// Patterns of parts of the notations of single programs: see [`crate::in_text`].
const PROGRAMS: [&str; 38] = [
    r"pat\b",
    r"pin\b",
    "community",
    "cryptsetup",
    "radtest",
    "freerdp",
    "pw",
    "auth",
    "cert",
    "://",
    "-u",
    "--user",
    "curl",
    "login",
    " -p",
    " -a ",
    " -w ",
    "literal",
    "@tcp",
    "identified",
    "cookie",
    "rabbitmqctl",
    "unseal",
    "put-parameter",
    "alias set",
    "openssl",
    "snmp",
    "createuser",
    "kinit",
    "assword",
    "securestring",
    r"sudo\s",
    r"net\S*\s+user\s",
    "sig(?:nature)?=",
    r"-u\s*\S+%",
    r"\son\s.*>",
    r":\s+(?:eap|xauth|ntlm)\s",
    // A line of `.pgpass`, and a login of Oracle.
    r":(?:\d+|\*):|/[^\s/@]+@",
];

/// What every text contains that names a secret.
static POSSIBLE: LazyLock<Regex> = LazyLock::new(|| {
    let stems = STEMS.iter().map(|(stem, _)| *stem).chain(EDGES).chain(LAST);
    let stems: Vec<_> = stems.chain(ENDS.iter().map(|words| words[0])).chain(PROGRAMS).collect();
    pattern(&format!("(?i)(?:{})", stems.join("|")))
});

/// A text within a template that may become the value: `{{ 'text' }}`, and what `default` is given.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?:\{\{-?\s*|\bor\s+|\belse\s+|[~+]\s*|\bd(?:efault)?\(\s*)(?:"(?P<v1>[^"]*)"|'(?P<v2>[^']*)')"#)
});

/// A template or a statement.
static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{.*?\}\}|\{%.*?%\}"));

/// A line of a secret with a login or a variable: `user:password`, `NAME=value`.
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^(?:export[ \t]+)?[\w.@-]+[ \t]*(?::|=[ \t]*["']?)(?P<value>[^\s"';&]+)["']?$"#));

/// The name at the start of a line of a configuration.
pub(crate) static ITEM_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z][\w.-]*(?:[ \t]+=|:)[ \t]"));

/// The end of a path beside a template: `{{ mirror }}/docker-ce/gpg`.
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:/[a-z]+(?:[_.-][a-z]+)*)+/?$"));

/// A character as XML writes it.
static ENTITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern("&(?:(?P<name>amp|apos|gt|lt|quot)|#(?P<decimal>[0-9]{1,7})|#[xX](?P<hex>[0-9A-Fa-f]{1,6}));")
});
const ENTITIES: [(&str, char); 5] = [("amp", '&'), ("apos", '\''), ("gt", '>'), ("lt", '<'), ("quot", '"')];

/// How a value begins that names the way of a login: `Bearer …`.
const SCHEMES: [&str; 5] = ["bearer ", "basic ", "token ", "apikey ", "negotiate "];

/// Whether `text` may name a secret. Quick, because most texts don't.
pub(crate) fn may_name_secret(text: &str) -> bool {
    POSSIBLE.is_match(text)
}

/// What programs read from a secret value: the text that it encodes, its logins, and what follows the name of its scheme.
pub(crate) fn of_value(value: &str) -> Vec<String> {
    let value = value.trim();
    let scheme =
        SCHEMES.iter().find(|scheme| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let token = scheme.map(|scheme| value[scheme.len()..].trim().to_owned());
    let lines = lines_with_secrets(value, "").into_iter();
    let assigned = lines.filter_map(|line| Some(ASSIGNED.captures(line)?["value"].to_owned()));
    let assigned = assigned.filter(|text| !is_word(text) && !text.starts_with("//"));
    let mut found: Vec<_> = assigned.chain(token).chain(from_percents(value)).chain(of_logins(value)).collect();
    let decoded: Vec<_> = found.iter().map(String::as_str).chain([value]).filter_map(from_base64).collect();
    // `user:password`
    found.extend(
        decoded
            .iter()
            .filter(|text| !text.starts_with('{'))
            .filter_map(|text| Some(text.split_once(':')?.1.trim_end().to_owned())),
    );
    found.extend(decoded);
    found
}

/// The passwords and tokens of the URLs in a text, each without the URL around it.
pub(crate) fn of_logins(text: &str) -> Vec<String> {
    if !text.contains("://") {
        return Vec::new();
    }
    let secret = LOGIN.captures_iter(text).filter_map(|found| {
        let is_http = found["scheme"].to_ascii_lowercase().ends_with("http")
            || found["scheme"].to_ascii_lowercase().ends_with("https");
        let login = found.name("login")?.as_str();
        match login.split_once(':') {
            Some((user, "" | "x-oauth-basic")) => Some(user),
            Some((_, password)) => Some(password),
            None => is_http.then_some(login),
        }
    });
    secret.flat_map(|secret| from_percents(secret).into_iter().chain([secret.to_owned()])).collect()
}

/// The texts of a template that may be in its result, as a whole or as a part.
pub(crate) fn literals(value: &str) -> Vec<String> {
    if !value.contains("{{") && !value.contains("{%") {
        return Vec::new();
    }
    let literals = LITERAL.captures_iter(value).filter_map(|found| found.name("v1").or(found.name("v2")));
    let literals = literals.map(|literal| literal.as_str());
    let around =
        TEMPLATE.split(value).filter(|text| text.len() >= SHORTEST_LINE && !is_word(text) && !PATH.is_match(text));
    let texts: Vec<String> = literals.chain(around).map(str::to_owned).collect();
    let decoded: Vec<_> = texts.iter().filter_map(|text| from_base64(text)).collect();
    texts.into_iter().chain(decoded).collect()
}

/// The secrets in a text with this name that lists several.
pub(crate) fn items(value: &str, name: &str) -> Vec<String> {
    let lines = lines_with_secrets(value, name).into_iter().map(|line| ITEM_NAME.replace(line, ""));
    let listed = lines.collect::<Vec<_>>().join("\n");
    let items = listed.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
    // `one=hunter22,two=…`
    let assigned = items.clone().filter_map(|item| Some(item.split_once('=')?.1));
    items.chain(assigned).filter(|item| *item != value && !is_word(item)).map(str::to_owned).collect()
}

/// The text that XML has as `value`: `a&amp;b`, `a&#38;b`.
pub(crate) fn from_entities(value: &str) -> Option<String> {
    let plain = ENTITY.replace_all(value, |entity: &Captures<'_>| {
        let (name, decimal, hex) = (entity.name("name"), entity.name("decimal"), entity.name("hex"));
        let number = decimal.map(|digits| digits.as_str().parse());
        let number = number.or(hex.map(|digits| u32::from_str_radix(digits.as_str(), 16)));
        let named = name.and_then(|name| ENTITIES.iter().find(|(entity, _)| *entity == name.as_str()));
        let c = named.map(|(_, c)| *c).or(number.and_then(Result::ok).and_then(char::from_u32));
        c.map_or_else(|| entity[0].to_owned(), String::from)
    });
    Some(plain.into_owned()).filter(|plain| plain != value)
}

/// The text that a URL has as `value`.
fn from_percents(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().filter(|text| text != value)
}

/// The map of JSON that `value` is in base64.
pub(crate) fn json_of_base64(value: &str) -> Option<String> {
    const OF_A_MAP: [&str; 5] = ["eyI", "eyJ", "eyA", "ewo", "ew0"];
    let may_be = OF_A_MAP.iter().any(|start| value.trim_start().starts_with(start));
    may_be.then(|| from_base64(value)).flatten()
}

/// The text that is `value` in base64. `None` if that is no readable text: then `value` is base64 by chance.
fn from_base64(value: &str) -> Option<String> {
    let value: String = value.split_ascii_whitespace().collect();
    if value.len() < SHORTEST_ENCODED {
        return None;
    }
    let bytes = ALPHABETS.iter().find_map(|alphabet| alphabet.decode(&value).ok())?;
    let text = String::from_utf8(bytes).ok()?;
    let is_readable = text.chars().all(|c| !c.is_control() || c.is_ascii_whitespace());
    (is_readable && text.trim().len() >= SHORTEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_of_xml_are_read() {
        let cases = [
            ("a&amp;b", Some("a&b")),
            ("&lt;a&quot;&#39;&#x26;&gt;&apos;", Some("<a\"'&>'")),
            ("a&b&nope;&#xD800;", None),
            ("&amp;amp;", Some("&amp;")),
        ];
        for (value, wanted) in cases {
            assert_eq!(from_entities(value).as_deref(), wanted, "{value}");
        }
    }

    #[test]
    fn what_a_value_encodes_is_found() {
        let cases = [
            ("Y2FuYXJ5LTE=", vec!["canary-1"]),
            ("Y2FuYXJ5LTE", vec!["canary-1"]),
            ("bWU6Y2FuYXJ5LTE=", vec!["canary-1", "me:canary-1"]),
            ("Basic bWU6Y2FuYXJ5LTE=", vec!["bWU6Y2FuYXJ5LTE=", "canary-1", "me:canary-1"]),
            ("Bearer abc.def", vec!["abc.def"]),
            ("can%2Fary%20", vec!["can/ary "]),
            ("postgres://me:can%40ary@db/x", vec!["can@ary", "can%40ary"]),
            ("https://ghp-canary@git", vec!["ghp-canary"]),
            ("ssh://root@host", vec![]),
            ("me:canary-1", vec!["canary-1"]),
            ("A=b\nexport B='canary-1'", vec!["canary-1"]),
            ("10.0.0.1:5000", vec![]),
            ("hunter22", vec![]),
            ("password", vec![]),
            ("100%", vec![]),
            ("kubernetes", vec![]),
        ];
        for (value, wanted) in cases {
            let found = of_value(value);
            for each in &wanted {
                assert!(found.iter().any(|found| found == each), "{value}: {found:?}");
            }
            assert!(!wanted.is_empty() || found.is_empty(), "{value}: {found:?}");
        }
    }

    #[test]
    fn literals_of_templates_are_found() {
        assert_eq!(literals(r#"{{ x | default("canary-1") | d('canary-2') }}"#), ["canary-1", "canary-2"]);
        assert_eq!(literals("{{ 'canary-1' ~ x }}"), ["canary-1"]);
        assert_eq!(literals("{{ lookup('env', 'DB_PASSWORD') }}"), [""; 0]);
    }
}
