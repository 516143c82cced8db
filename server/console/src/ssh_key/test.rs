//! The operation that tests a new key: `ping.yml` connects to every machine with it.

use std::sync::Arc;

use crd::{ClusterOperation, ClusterOperationSpec};

/// ssh offers only this key: no other one of an agent, and no password. Options of a machine's own in the inventory take precedence.
const ONLY_THIS_KEY: &str = "--ssh-extra-args=-o IdentitiesOnly=yes -o PreferredAuthentications=publickey";

/// The operation that tests the key `id` of a cluster.
pub(super) fn operation_spec(cluster: &str, id: &str, image: &str) -> ClusterOperationSpec {
    ClusterOperationSpec {
        cluster: cluster.into(),
        action: operation::PING.into(),
        image: image.into(),
        extra_args: operation::join(&[ONLY_THIS_KEY.to_owned()]),
        next_ssh_key: Some(id.into()),
        ..ClusterOperationSpec::default()
    }
}

/// The newest test of the key `id`. An operation that a user wrote to run less than the test doesn't count.
pub(crate) fn newest<'a>(
    operations: &'a [Arc<ClusterOperation>],
    cluster: &str,
    id: &str,
) -> Option<&'a ClusterOperation> {
    let tests = operations.iter().map(Arc::as_ref).filter(|operation| {
        let spec = &operation.spec;
        let test = ClusterOperationSpec {
            expected_inputs: spec.expected_inputs.clone(),
            cancel: spec.cancel,
            ..operation_spec(cluster, id, &spec.image)
        };
        *spec == test && !operation::is_record(operation)
    });
    tests.max_by(|a, b| operation::order(a, b))
}

/// Whether the test is queued or runs.
pub(super) fn is_open(test: &ClusterOperation) -> bool {
    !operation::phase(test).is_final()
}

/// Whether every machine was reached.
pub(super) fn has_passed(test: &ClusterOperation) -> bool {
    let recap = test.status.as_ref().and_then(|status| status.recap).unwrap_or_default();
    operation::phase(test) == crd::Phase::Succeeded && recap.unreachable == 0 && recap.failed == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::operation;

    fn test(name: &str, age: i64, status: crd::Phase) -> ClusterOperation {
        ClusterOperation { spec: operation_spec("prod", "k1", "i"), ..operation(name, "prod", age, status) }
    }

    #[test]
    fn only_the_whole_test_of_this_key_counts() {
        let mut limited = test("limited", 5, crd::Phase::Succeeded);
        limited.spec.extra_args = Some("--limit=m1".into());
        let mut other = test("other", 6, crd::Phase::Succeeded);
        other.spec.next_ssh_key = Some("k2".into());
        let all = [limited, test("first", 1, crd::Phase::Failed), test("second", 2, crd::Phase::Succeeded), other];
        let all = all.map(Arc::new);
        let found = newest(&all, "prod", "k1").expect("a test");
        assert_eq!(found.metadata.name.as_deref(), Some("second"));
        assert!(has_passed(found) && newest(&all, "prod", "k3").is_none());
        let mut unreached = test("third", 3, crd::Phase::Succeeded);
        unreached.status.as_mut().unwrap().recap = Some(crd::Recap { unreachable: 1, ..Default::default() });
        assert!(!has_passed(&unreached));
    }
}
