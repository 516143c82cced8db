//! What can go wrong on the way to the API. All of it is tried again.

use std::time::Duration;

use kube::runtime::controller::Action;

/// Why a reconcile stopped before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Somebody else wrote first: read again.
    #[error("{0} changed while it was being written")]
    Conflict(String),
    #[error("could not {what}: {source}")]
    Api { what: &'static str, source: kube::Error },
}

impl Error {
    /// Somebody else wrote first, which is expected and tried again.
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

/// When to try again. The order of queues doesn't depend on it.
pub(crate) fn again(object: &str, error: &Error) -> Action {
    if error.is_conflict() {
        // Ordinary between two controllers, or a controller and a person.
        tracing::debug!(object, %error, "a reconcile begins again");
        Action::requeue(Duration::from_millis(100))
    } else {
        tracing::warn!(object, %error, "a reconcile failed and is tried again");
        Action::requeue(Duration::from_secs(2))
    }
}

/// The answer of a write with preconditions.
pub(crate) trait Answer<T> {
    /// None where somebody else wrote first, or the object is gone.
    fn unless_changed(self) -> Result<Option<T>, kube::Error>;
}

impl<T> Answer<T> for Result<T, kube::Error> {
    fn unless_changed(self) -> Result<Option<T>, kube::Error> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_somebody_else_preceded_is_no_warning_and_tried_again_at_once() {
        let api = |code: u16| {
            let reason = if code == 409 { "Conflict" } else { "InternalError" };
            let status = kube::core::Status { code, ..kube::core::Status::failure("no", reason) };
            Error::Api { what: "write a status", source: kube::Error::Api(status.boxed()) }
        };
        assert!(api(409).is_conflict() && Error::Conflict("a".into()).is_conflict());
        assert_eq!(again("a", &api(409)), Action::requeue(Duration::from_millis(100)));
        assert_eq!(again("a", &api(500)), Action::requeue(Duration::from_secs(2)));
    }
}
