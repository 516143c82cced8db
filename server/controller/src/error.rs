//! Errors of a reconcile. All of them are retried.

use std::time::Duration;

use kube::runtime::controller::Action;

/// Why a reconcile stopped early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Another client wrote first: read again.
    #[error("{0} changed while it was being written")]
    Conflict(String),
    #[error("could not {what}: {source}")]
    Api { what: &'static str, source: kube::Error },
}

impl Error {
    /// Another client wrote first, which is normal.
    fn is_conflict(&self) -> bool {
        match self {
            Self::Conflict(_) => true,
            Self::Api { source, .. } => matches!(source, kube::Error::Api(status) if status.is_conflict()),
        }
    }

    /// For `map_err`, with what was being done.
    pub(crate) fn while_doing(what: &'static str) -> impl Fn(kube::Error) -> Self {
        move |source| Self::Api { what, source }
    }
}

/// When to retry. The order of operations doesn't depend on it.
pub(crate) fn retry(object: &str, error: &Error) -> Action {
    if error.is_conflict() {
        // Expected when two controllers, or a controller and a user, write the same object.
        tracing::debug!(object, %error, "a reconcile met a conflict and starts again");
        Action::requeue(Duration::from_millis(100))
    } else {
        tracing::warn!(object, %error, "a reconcile failed and will be retried");
        Action::requeue(Duration::from_secs(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_retried_at_once_and_is_no_warning() {
        let api = |code: u16| {
            let reason = if code == 409 { "Conflict" } else { "InternalError" };
            let status = kube::core::Status { code, ..kube::core::Status::failure("no", reason) };
            Error::Api { what: "write a status", source: kube::Error::Api(status.boxed()) }
        };
        assert!(api(409).is_conflict() && Error::Conflict("a".into()).is_conflict());
        assert_eq!(retry("a", &api(409)), Action::requeue(Duration::from_millis(100)));
        assert_eq!(retry("a", &api(500)), Action::requeue(Duration::from_secs(2)));
    }
}
