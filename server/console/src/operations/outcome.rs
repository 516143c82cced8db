//! The reason for an operation's phase.

use crd::{ClusterOperation, Phase};

/// Why an operation is in its phase.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// One CamelCase word.
    pub(crate) reason: String,
    /// A sentence. If the operation is queued, it says what the operation waits for.
    pub(crate) message: String,
}

/// The reason and the message for the phase of `operation`, from its status.
pub(crate) fn why(operation: &ClusterOperation) -> Why {
    let Some(status) = &operation.status else { return Why::default() };
    let message = status.message.clone().unwrap_or_default();
    let queued = status.conditions.iter().find(|c| c.type_ == crd::condition::QUEUED && c.status == "True");
    let message = match queued.filter(|_| message.is_empty() && status.status == Phase::Pending) {
        Some(queued) => queued.message.clone(),
        None => message,
    };
    let message = match crd::is_true(&status.conditions, crd::condition::RESULT_IGNORED) {
        true => {
            format!("{message} Another client wrote a result on this operation; it is ignored.").trim_start().into()
        }
        false => message,
    };
    Why { reason: status.reason.clone().unwrap_or_default(), message }
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn an_ignored_result_is_mentioned() {
        let mut marked = operation("a", "prod", 0, Phase::Running);
        assert_eq!(why(&marked).message, "");
        let fact = crd::Fact::new(crd::condition::RESULT_IGNORED, true, "NotByController", "");
        let now = marked.metadata.creation_timestamp.clone().unwrap();
        crd::upsert(&mut marked.status.as_mut().unwrap().conditions, fact, &now, None);
        assert_eq!(why(&marked).message, "Another client wrote a result on this operation; it is ignored.");
    }
}
