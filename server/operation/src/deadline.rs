//! The time limit of a run.

use api::operation::Deadline;
use crd::ClusterOperationSpec;

/// Seconds after which Kubernetes stops the run, counted from the start of its Job.
pub fn deadline(operation: &ClusterOperationSpec) -> i64 {
    operation.active_deadline_seconds.unwrap_or(i64::from(Deadline::DEFAULT.minutes()) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_without_a_deadline_has_six_hours() {
        let with = |seconds| ClusterOperationSpec { active_deadline_seconds: seconds, ..Default::default() };
        assert_eq!((deadline(&with(None)), deadline(&with(Some(60)))), (21_600, 60));
    }
}
