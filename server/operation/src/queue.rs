//! The order in which the operations of a cluster run.

use crd::{ClusterOperation, Time};

/// The sort key of the queue: creation time, then name. Creation times have whole seconds, so the name decides
/// between operations that were created in the same second.
pub fn order(operation: &ClusterOperation) -> (Option<&Time>, &str) {
    (operation.metadata.creation_timestamp.as_ref(), operation.metadata.name.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_runs_first_and_the_name_decides_within_a_second() {
        let operation = |name: &str, second| {
            let mut operation = ClusterOperation::default();
            operation.metadata.name = Some(name.into());
            operation.metadata.creation_timestamp = Some(Time(jiff::Timestamp::from_second(second).unwrap()));
            operation
        };
        let (a, b, old) = (operation("a", 2), operation("b", 2), operation("z", 1));
        assert!(order(&old) < order(&a) && order(&a) < order(&b));
    }
}
