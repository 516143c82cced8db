//! Names of clusters and operations, validated when they are parsed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::input::Value;

/// Why a name is invalid. The form shows the text at the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("A name is needed.")]
    Empty,
    #[error("The name has {length} characters; at most {limit} are allowed, because {reason}.")]
    TooLong { length: usize, limit: usize, reason: &'static str },
    #[error(
        "“{0}” can't be a name: use lower-case letters, digits, “-” and “.”, and begin and end with a letter or digit."
    )]
    NotASubdomain(String),
}

/// Maximum length of the name of a Kubernetes object (RFC 1123 subdomain).
const LONGEST: usize = 253;

/// Validates an RFC 1123 subdomain, which Kubernetes requires for names of custom resources.
fn subdomain(text: &str, limit: usize, reason: &'static str) -> Result<String, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    let length = text.chars().count();
    if length > limit {
        return Err(NameError::TooLong { length, limit, reason });
    }
    if !is_subdomain(text) {
        return Err(NameError::NotASubdomain(text.chars().take(80).collect()));
    }
    Ok(text.to_owned())
}

/// Whether an object can have this name: an RFC 1123 subdomain.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        is_edge(part.chars().next())
            && is_edge(part.chars().next_back())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.len() <= LONGEST && text.split('.').all(is_part)
}

/// Whether a namespace can have this name: an RFC 1123 label.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= 63 && !text.contains('.') && is_subdomain(text)
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $limit:expr, $reason:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Maximum length of a new name, in characters.
            pub const LIMIT: usize = $limit;

            /// Parses the name of a new object. `parse` allows longer names, which other programs may have created.
            pub fn for_new(text: &str) -> Result<Self, NameError> {
                subdomain(text, $limit, $reason).map(Self)
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                subdomain(text, LONGEST, "Kubernetes allows no longer names").map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The name of a `Cluster`: an RFC 1123 subdomain. A new name must also be a valid label value.
    ClusterName,
    63,
    "it is also used as a label value"
);
name!(
    /// The name of a `ClusterOperation`. Its Job is called `kubeonkube-<name>-job`, which may have at most 63
    /// characters.
    OperationName,
    48,
    "its Job's name is 15 characters longer and limited to 63"
);

/// The name of a new cluster, in a form.
impl Value for ClusterName {
    fn parse(text: &str) -> Result<Self, String> {
        Self::for_new(text).map_err(|why| why.to_string())
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_shell_characters_is_refused() {
        for bad in ["a;rm", "a b", "A", "-a", "a-", "a..b", "$(x)", "ä", "a/b", "a\n"] {
            assert!(matches!(bad.parse::<ClusterName>(), Err(NameError::NotASubdomain(_))), "{bad:?}");
        }
    }

    #[test]
    fn an_operation_name_is_short_enough_for_its_job() {
        assert!(OperationName::for_new(&"a".repeat(48)).is_ok());
        let refused = OperationName::for_new(&"a".repeat(49)).expect_err("49 is too long");
        assert!(refused.to_string().contains("at most 48"), "{refused}");
    }

    #[test]
    fn names_of_existing_objects_have_up_to_253_characters() {
        assert!("a".repeat(253).parse::<OperationName>().is_ok());
        assert!("a".repeat(254).parse::<ClusterName>().is_err());
    }

    #[test]
    fn a_name_in_json_is_validated() {
        assert!(serde_json::from_str::<ClusterName>("\"prod.fra-1\"").is_ok());
        assert!(serde_json::from_str::<ClusterName>("\"../etc\"").is_err());
    }
}
