//! The objects that a request is about.

use std::sync::Arc;

use crate::kind::Kind;

/// A collection, an object or a subresource.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) kind: Arc<Kind>,
    /// `None` for cluster-scoped kinds and for all namespaces.
    pub(crate) namespace: Option<String>,
    /// `None` for a collection.
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}
