//! The signed-in user on whose behalf a request is made.

use std::fmt;

/// The signed-in person on whose behalf something is read or written.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// The name that Kubernetes and the records know them by.
    pub name: String,
    /// Their own Kubernetes token in a cluster; None in standalone mode.
    pub token: Option<String>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The token must not reach a log by way of `{:?}`.
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}
