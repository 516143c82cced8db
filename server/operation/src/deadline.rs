//! When a run is stopped.

use std::time::Duration;

use crd::ClusterOperationSpec;

/// The deadline of an operation that names none.
pub const DEFAULT_DEADLINE: Duration = Duration::from_hours(6);

/// Seconds after its start at which Kubernetes stops the run.
pub fn deadline(operation: &ClusterOperationSpec) -> i64 {
    operation.active_deadline_seconds.unwrap_or(DEFAULT_DEADLINE.as_secs().cast_signed())
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
