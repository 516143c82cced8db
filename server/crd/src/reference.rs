//! References to other objects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ConfigMap or Secret; which of the two, and which key of it, the field's name says.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct DataRef {
    /// Namespace of the object. All references of one Cluster name the same namespace; its Jobs run there.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
}

impl DataRef {
    /// A reference to `name` in `namespace`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// Whether an object could be called so (RFC 1123). What can't exist need not be asked for: it is missing, and a name
    /// with `/` or `?` in it must not reach the path of a request.
    pub fn can_exist(&self) -> bool {
        let good = |text: &str, limit, dots| {
            let edge = |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            let inner = |c: &u8| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'-' || (dots && *c == b'.');
            let bytes = text.as_bytes();
            bytes.len() <= limit && edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(inner)
        };
        good(&self.namespace, 63, false) && good(&self.name, 253, true)
    }
}

impl std::fmt::Display for DataRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The Job of an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobRef {
    /// Namespace of the Job.
    pub namespace: String,
    /// Name of the Job.
    pub name: String,
    /// Its uid: a Job of the same name with another uid is not this operation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::DataRef;

    #[test]
    fn a_reference_that_would_change_the_path_of_a_request_names_nothing() {
        for name in ["", " ", "a b", "a/../b", "x?watch=true", "-a", "A"] {
            assert!(!DataRef::new("lab", name).can_exist(), "{name:?}");
            assert!(!DataRef::new(name, "hosts").can_exist(), "{name:?}");
        }
        assert!(DataRef::new("lab", "prod.hosts-1").can_exist());
    }
}
