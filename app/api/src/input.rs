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

/// `text` in quotation marks, as part of a sentence: on one line, at most 60 characters, invisible characters escaped.
#[must_use]
pub fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(60).flat_map(|c| c.escape_debug().collect::<Vec<_>>()).collect();
    let shown = shown.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(60).is_some() { format!("“{shown}…”") } else { format!("“{shown}”") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Port;

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
