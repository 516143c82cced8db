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
