//! The operations that a new operation of a cluster must wait for.

use std::sync::Arc;

use crd::ClusterOperation;
use kube::ResourceExt;
use operation::{is_record, order, phase};

/// The running operation of a cluster, and the queued ones in their order.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    pub(crate) running: Option<Arc<ClusterOperation>>,
    pub(crate) waiting: Vec<Arc<ClusterOperation>>,
}

/// The operations that a new operation of `cluster` must wait for.
pub(crate) fn ahead(operations: &[Arc<ClusterOperation>], cluster: &str) -> Ahead {
    let mut ahead = Ahead::default();
    for operation in operations.iter().filter(|o| o.spec.cluster == cluster && !is_record(o)) {
        match phase(operation) {
            crd::Phase::Running => ahead.running = Some(Arc::clone(operation)),
            crd::Phase::Pending => ahead.waiting.push(Arc::clone(operation)),
            crd::Phase::Succeeded | crd::Phase::Failed => {}
        }
    }
    ahead.waiting.sort_by(|a, b| order(a, b));
    ahead
}

impl Ahead {
    /// A warning about queued operations that were reviewed with other inputs than `inputs` and therefore end without running when
    /// these are saved.
    pub(crate) fn outdated_by(&self, inputs: &str) -> Option<String> {
        let outdated = self.waiting.iter().filter(|waiting| {
            let expected = waiting.spec.expected_inputs.as_deref();
            expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(inputs))
        });
        let names: Vec<String> = outdated.map(|waiting| waiting.name_any()).collect();
        match names.as_slice() {
            [] => None,
            [one] => Some(format!(
                "{one} is queued and was reviewed with another inventory or other variables. It will end without running, so submit it again afterwards."
            )),
            [first, others @ ..] => Some(format!(
                "{first} and {} are queued and were reviewed with another inventory or other variables. They will end without running, so submit them again afterwards.",
                api::count(others.len() as u64, "more operation", "more operations")
            )),
        }
    }

    /// The sentence for the review of a new operation; `None` if the operation would start at once.
    pub(crate) fn sentence(&self) -> Option<String> {
        let first = self.running.as_ref().or_else(|| self.waiting.first())?;
        let others = self.waiting.len() - usize::from(self.running.is_none());
        let doing = if self.running.is_some() { "which is running" } else { "which is queued" };
        Some(match others {
            0 => format!("Queued behind {}, {doing}. A cluster runs one operation at a time.", first.name_any()),
            n => {
                let more = api::count(n as u64, "more operation", "more operations");
                format!("Queued behind {}, {doing}, and {more}.", first.name_any())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn the_sentence_names_the_running_operation_and_counts_others() {
        let operations: Vec<_> = [
            operation("second", "prod", 2, crd::Phase::Pending),
            operation("first", "prod", 1, crd::Phase::Running),
            operation("other", "lab", 0, crd::Phase::Running),
            operation("done", "prod", 0, crd::Phase::Failed),
        ]
        .into_iter()
        .map(Arc::new)
        .collect();
        let sentence = ahead(&operations, "prod").sentence().unwrap();
        assert_eq!(sentence, "Queued behind first, which is running, and 1 more operation.");
        assert_eq!(ahead(&operations, "idle").sentence(), None);
    }

    #[test]
    fn queued_operations_that_a_change_ends_are_named() {
        let mut waiting = operation("waits", "prod", 2, crd::Phase::Pending);
        waiting.spec.expected_inputs = Some("AB12".into());
        let mut running = operation("runs", "prod", 1, crd::Phase::Running);
        running.spec.expected_inputs = Some("ab12".into());
        let without = operation("any", "prod", 3, crd::Phase::Pending);
        let operations: Vec<_> = [waiting.clone(), running, without].into_iter().map(Arc::new).collect();
        let queue = ahead(&operations, "prod");
        assert_eq!(queue.outdated_by("ab12"), None);
        assert!(
            queue
                .outdated_by("cd34")
                .unwrap()
                .starts_with("waits is queued and was reviewed with another inventory or other variables.")
        );
        let mut another = waiting.clone();
        another.metadata.name = Some("x-waits".into());
        let both: Vec<_> = [waiting, another].into_iter().map(Arc::new).collect();
        assert!(ahead(&both, "prod").outdated_by("cd34").unwrap().contains("and 1 more operation are queued"));
    }
}
