//! The signed-in user on whose behalf a request is made.

use std::fmt;

/// The signed-in user, on whose behalf the console reads and writes.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// The user's name in Kubernetes and in records.
    pub name: String,
    /// The user's own Kubernetes token; `None` in standalone mode.
    pub token: Option<String>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:?}` must not write the token into a log.
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}
