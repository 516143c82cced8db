//! The operations that a new operation of a cluster must wait for.

use std::sync::Arc;

use crd::ClusterOperation;
use kube::ResourceExt;
use operation::{order, phase};

/// The running operation of a cluster, and the queued ones in their order.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    pub(crate) running: Option<Arc<ClusterOperation>>,
    pub(crate) waiting: Vec<Arc<ClusterOperation>>,
}

/// The operations that a new operation of `cluster` must wait for.
pub(crate) fn ahead(operations: &[Arc<ClusterOperation>], cluster: &str) -> Ahead {
    let mut ahead = Ahead::default();
    for operation in operations.iter().filter(|o| o.spec.cluster == cluster) {
        match phase(operation) {
            crd::Phase::Running => ahead.running = Some(Arc::clone(operation)),
            crd::Phase::Pending => ahead.waiting.push(Arc::clone(operation)),
            crd::Phase::Succeeded | crd::Phase::Failed => {}
        }
    }
    ahead.waiting.sort_by(|a, b| order(a).cmp(&order(b)));
    ahead
}

impl Ahead {
    /// The sentence for the review of a new operation; `None` if the operation would start at once.
    pub(crate) fn sentence(&self) -> Option<String> {
        let first = self.running.as_ref().or_else(|| self.waiting.first())?;
        let others = self.waiting.len() - usize::from(self.running.is_none());
        let doing = if self.running.is_some() { "which is running" } else { "which is queued" };
        Some(match others {
            0 => format!("Queued behind {}, {doing}. A cluster runs one operation at a time.", first.name_any()),
            1 => format!("Queued behind {}, {doing}, and 1 more operation.", first.name_any()),
            n => format!("Queued behind {}, {doing}, and {n} more operations.", first.name_any()),
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
}
