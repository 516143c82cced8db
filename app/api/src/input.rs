//! A field of a form, parsed when the form is read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that a person can type into a field or choose there.
pub trait Value: Clone {
    /// Parses a text without spaces around it. The error is the sentence shown at the field.
    fn parse(text: &str) -> Result<Self, String>;
    /// The text that [`Value::parse`] turns into this value.
    fn text(&self) -> String;
}

/// An optional field: empty means `None`.
impl<T: Value> Value for Option<T> {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }
}

/// What was typed into a field: a value, or a text that can't be one. Reading a form therefore never fails, and all its problems
/// can be reported together.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String", bound = "T: Value")]
pub enum Input<T> {
    Valid(T),
    Invalid {
        text: String,
        /// The sentence shown at the field.
        why: String,
    },
}

impl<T: Value> Input<T> {
    /// The value, or the sentence shown at the field.
    pub fn value(&self) -> Result<&T, &str> {
        match self {
            Self::Valid(value) => Ok(value),
            Self::Invalid { why, .. } => Err(why),
        }
    }

    /// Whether nothing was typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Valid(value) => value.text().is_empty(),
            Self::Invalid { text, .. } => text.is_empty(),
        }
    }
}

impl<T: Value> From<&str> for Input<T> {
    fn from(text: &str) -> Self {
        let text = text.trim();
        T::parse(text).map_or_else(|why| Self::Invalid { text: text.to_owned(), why }, Self::Valid)
    }
}

impl<T: Value> From<String> for Input<T> {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl<T: Value> From<Input<T>> for String {
    fn from(input: Input<T>) -> Self {
        match input {
            Input::Valid(value) => value.text(),
            Input::Invalid { text, .. } => text,
        }
    }
}

/// An empty field.
impl<T: Value> Default for Input<T> {
    fn default() -> Self {
        "".into()
    }
}

/// The text.
impl<T: Value> fmt::Display for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(self.clone()))
    }
}

/// The text in quotation marks.
impl<T: Value> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from(self.clone()))
    }
}

/// The choice of this name. Nothing chosen means the default; `otherwise` is the sentence for an unknown name.
pub(crate) fn chosen<T: Copy + Default>(
    text: &str,
    choices: &[T],
    name: impl Fn(T) -> &'static str,
    otherwise: &str,
) -> Result<T, String> {
    if text.is_empty() {
        return Ok(T::default());
    }
    choices.iter().copied().find(|choice| name(*choice) == text).ok_or_else(|| otherwise.to_owned())
}

/// Makes a type that holds a text, which `$check` has accepted. Otherwise `$check` returns the sentence shown at the field.
macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::input::Value for $name {
            fn parse(text: &str) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(text).map(|()| Self(text.into()))
            }

            fn text(&self) -> String {
                self.0.clone()
            }
        }
    };
}

pub(crate) use checked_text;

/// `text` in quotation marks, as part of a sentence: on one line, at most 60 characters, invisible characters as `<U+00A0>`. A text that may
/// be (a part of) a private key isn't shown.
#[must_use]
pub fn quoted(text: &str) -> String {
    if may_be_key(text) {
        return "“(not shown, it looks like a private key)”".into();
    }
    let is_visible = |c: char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1;
    let of = |c: char| if is_visible(c) { c.to_string() } else { by_number(c) };
    let shown: String = text.chars().take(60).map(of).collect();
    if text.chars().nth(60).is_some() { format!("“{shown}…”") } else { format!("“{shown}”") }
}

fn by_number(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// `text` with the characters as `<U+202E>` that reverse the direction of what follows. A machine may have written it, and the page and
/// the terminal would show another text. `BIDI` in `deploy/runner/kubeonkube_masking.py` has the same characters.
#[must_use]
pub fn unreversed(text: &str) -> String {
    let is_bidi = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if is_bidi(c) { by_number(c) } else { c.to_string() }).collect()
}

/// Whether a text contains a private key (PEM), or a line of one: base64, with letters of both cases and digits.
fn may_be_key(text: &str) -> bool {
    /// Lines of keys have 64 or 70 characters. A pasted one may have lost some.
    const SHORTEST: usize = 32;
    let is_line = |run: &str| {
        let has = |is: fn(&char) -> bool| run.chars().any(|c| is(&c));
        // In base64, every 64th character is a slash. A path has more.
        let is_path = run.matches('/').count() * 12 > run.len();
        run.len() >= SHORTEST
            && !is_path
            && has(char::is_ascii_uppercase)
            && has(char::is_ascii_lowercase)
            && has(char::is_ascii_digit)
    };
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    text.contains("PRIVATE KEY") || text.split(|c| !is_base64(c)).any(is_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Address, Login, NodeName, Port};

    #[test]
    fn a_refusal_quotes_no_private_key() {
        const BODY: &str = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt";
        let pem = format!("-----BEGIN OPENSSH PRIVATE KEY-----{BODY}-----END OPENSSH PRIVATE KEY-----");
        for typed in [
            &pem,
            &pem.replace("-----b", "----- b"),
            BODY,
            &BODY[..40],
            &format!("root@{BODY}"),
            "-----BEGIN RSA PRIVATE KEY-----MIIE",
        ] {
            for why in [
                NodeName::parse(typed).unwrap_err(),
                Address::parse(typed).err().unwrap_or_default(),
                Login::parse(typed).err().unwrap_or_default(),
                Port::parse(typed).unwrap_err(),
            ] {
                assert!(!why.contains("b3Bl") && !why.contains("MIIE"), "{why}");
            }
        }
        for typed in [
            "Node_1",
            "/home/ann/.ssh/id_ed25519",
            "a-name-of-a-machine-that-is-very-long-in-Rack12.example.com",
            "10.0.0.256",
        ] {
            assert_eq!(quoted(typed), format!("“{typed}”"));
        }
    }

    #[test]
    fn invisible_characters_are_shown_by_their_number() {
        assert_eq!(quoted("\u{a0}kube\n"), "“<U+00A0>kube<U+000A>”");
        assert_eq!(quoted("it's a \"b\\c\" é 節"), "“it's a \"b\\c\" é 節”");
    }

    #[test]
    fn characters_that_reverse_a_text_are_shown_by_their_number() {
        assert_eq!(unreversed("a\u{202e}b\u{2066}c"), "a<U+202E>b<U+2066>c");
        let others = "é 節 שלום\u{200f} 👩\u{200d}🔧\u{a0}\n\t";
        assert_eq!(unreversed(others), others);
    }

    #[test]
    fn a_field_keeps_what_was_typed_even_if_it_is_invalid() {
        let read = |json: &str| serde_json::from_str::<Input<Option<Port>>>(json).unwrap();
        assert_eq!(read("\" 2222 \""), Input::Valid(Some("2222".parse().unwrap())));
        assert_eq!(read("\"\""), Input::Valid(None));
        let invalid = read("\"ssh\"");
        assert!(invalid.value().unwrap_err().contains("not a port"));
        assert_eq!((invalid.to_string().as_str(), invalid.is_empty()), ("ssh", false));
        assert_eq!(serde_json::to_string(&invalid).unwrap(), "\"ssh\"");
    }
}
