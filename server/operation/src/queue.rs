//! The order in which the operations of a cluster run: that in which the API accepted them.

use std::cmp::Ordering;

use crd::ClusterOperation;

/// Compares two operations, the older one first. Creation times have whole seconds, so the resourceVersion decides within a second:
/// it grows with each write to the API. The one of the creation counts, which the controller keeps in the status.
pub fn order<'a>(a: &'a ClusterOperation, b: &'a ClusterOperation) -> Ordering {
    let key = |operation: &'a ClusterOperation| {
        (operation.metadata.creation_timestamp.as_ref(), version(operation), operation.metadata.name.as_deref())
    };
    key(a).cmp(&key(b))
}

/// Kubernetes' rule for comparing resourceVersions: they are whole numbers of any length.
/// (kubernetes/enhancements, KEP 5504)
fn version(operation: &ClusterOperation) -> (usize, &str) {
    let accepted = operation.status.as_ref().and_then(|status| status.accepted_version.as_ref());
    let digits =
        accepted.or(operation.metadata.resource_version.as_ref()).map_or("", |version| version.trim_start_matches('0'));
    (digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use crd::{ClusterOperationStatus, Time};

    use super::*;

    fn operation(name: &str, second: i64, version: &str, accepted: Option<&str>) -> ClusterOperation {
        let mut operation = ClusterOperation::default();
        operation.metadata.name = Some(name.into());
        operation.metadata.creation_timestamp = Some(Time(jiff::Timestamp::from_second(second).unwrap()));
        operation.metadata.resource_version = Some(version.into());
        let accepted_version = accepted.map(str::to_owned);
        operation.status =
            accepted.map(|_| ClusterOperationStatus { accepted_version, ..ClusterOperationStatus::default() });
        operation
    }

    #[test]
    fn operations_run_in_the_order_in_which_the_api_accepted_them() {
        let expected = [
            operation("z-older", 1, "900", Some("890")),
            operation("week-prepare", 2, "99", None),
            operation("upgrade", 2, "180", Some("100")),
            operation("check-after", 2, "101", None),
            operation("a-later", 2, "120", Some("102")),
            operation("b-later", 2, "110", Some("102")),
        ];
        for (at, a) in expected.iter().enumerate() {
            for b in &expected[at + 1..] {
                assert!(order(a, b).is_lt() && order(b, a).is_gt(), "{:?} {:?}", a.metadata.name, b.metadata.name);
            }
        }
    }
}
