//! References to other objects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::is_object_name;

/// A reference to a ConfigMap or Secret. The field decides which of the two, and which key of it is used.
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

    /// Whether a manifest left this reference out.
    pub fn is_absent(&self) -> bool {
        self.namespace.is_empty() && self.name.is_empty()
    }

    /// Whether an object could have this namespace and name (RFC 1123). If not, the object is missing and must not be
    /// requested: a name with `/` or `?` would change the path of the request.
    pub fn can_exist(&self) -> bool {
        is_object_name(&self.namespace, false) && is_object_name(&self.name, true)
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
    /// Its uid. A Job with the same name and another uid doesn't belong to this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::DataRef;

    #[test]
    fn a_reference_that_would_change_a_request_path_is_invalid() {
        for name in ["", " ", "a b", "a/../b", "x?watch=true", "-a", "A"] {
            assert!(!DataRef::new("lab", name).can_exist(), "{name:?}");
            assert!(!DataRef::new(name, "hosts").can_exist(), "{name:?}");
        }
        assert!(DataRef::new("lab", "prod.hosts-1").can_exist());
        assert!(!DataRef::new("la.b", "hosts").can_exist(), "a namespace has no dots");
        let long = |letters: usize| "a".repeat(letters);
        assert!(DataRef::new(long(63), long(253)).can_exist());
        assert!(!DataRef::new(long(64), "hosts").can_exist() && !DataRef::new("lab", long(254)).can_exist());
    }
}
