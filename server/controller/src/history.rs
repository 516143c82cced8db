//! A Cluster's history of operations. Its entry with status Running *is* the turn.

use crd::{Cluster, ClusterOperation, ClusterStatus, Fact, OperationRecord, Phase, Time, condition, upsert};

use crate::outcome::Outcome;

/// The entry of `operation`. An entry without uid was written by the reference system and is matched by name.
pub(crate) fn entry<'a>(cluster: &'a Cluster, operation: &ClusterOperation) -> Option<&'a OperationRecord> {
    entries(cluster).iter().find(|entry| is_of(entry, operation))
}

/// The operation that has the turn.
pub(crate) fn running(cluster: &Cluster) -> Option<&OperationRecord> {
    entries(cluster).iter().find(|entry| entry.status == Phase::Running)
}

/// All entries, newest first.
pub(crate) fn entries(cluster: &Cluster) -> &[OperationRecord] {
    cluster.status.as_ref().map_or(&[], |status| &status.conditions)
}

/// Whether `entry` speaks of `operation`, not of an earlier one of the same name.
pub(crate) fn is_of(entry: &OperationRecord, operation: &ClusterOperation) -> bool {
    Some(&entry.cluster_ops) == operation.metadata.name.as_ref()
        && (entry.uid.is_none() || entry.uid == operation.metadata.uid)
}

/// The entry with which an operation takes its turn.
pub(crate) fn claimed(operation: &ClusterOperation, now: &Time) -> OperationRecord {
    OperationRecord {
        cluster_ops: operation.metadata.name.clone().unwrap_or_default(),
        uid: operation.metadata.uid.clone(),
        status: Phase::Running,
        start_time: Some(now.clone()),
        end_time: None,
    }
}

/// The entry with which it ends, refused or run.
pub(crate) fn ended(operation: &ClusterOperation, outcome: &Outcome) -> OperationRecord {
    OperationRecord {
        status: outcome.status,
        start_time: outcome.start_time.clone().or_else(|| outcome.end_time.clone()),
        end_time: outcome.end_time.clone(),
        ..claimed(operation, &Time(jiff::Timestamp::UNIX_EPOCH))
    }
}

/// Puts `news` into the history and says in the conditions what follows from it. `keep` tells which other entries stay: those
/// whose operation still exists.
pub(crate) fn record(
    status: &ClusterStatus,
    news: &[OperationRecord],
    keep: impl Fn(&OperationRecord) -> bool,
    now: &Time,
    generation: Option<i64>,
) -> ClusterStatus {
    let mut status = status.clone();
    let same = |old: &OperationRecord| {
        news.iter().any(|new| old.cluster_ops == new.cluster_ops && (old.uid.is_none() || old.uid == new.uid))
    };
    status.conditions.retain(|old| !same(old) && (old.status == Phase::Running || keep(old)));
    status.conditions.extend_from_slice(news);
    status.conditions.sort_by(|a, b| b.start_time.cmp(&a.start_time).then_with(|| b.cluster_ops.cmp(&a.cluster_ops)));
    let busy = match status.conditions.iter().find(|entry| entry.status == Phase::Running) {
        Some(entry) => {
            Fact::new(condition::BUSY, true, "OperationRunning", format!("Operation {} runs.", entry.cluster_ops))
        }
        None => Fact::new(condition::BUSY, false, "Idle", "No operation runs."),
    };
    upsert(&mut status.cluster_conditions, busy, now, generation);
    let last =
        status.conditions.iter().filter(|entry| entry.status.is_final()).max_by(|a, b| a.end_time.cmp(&b.end_time));
    if let Some(last) = last {
        let fact = match last.status {
            Phase::Succeeded => Fact::new(
                condition::LAST_OPERATION_SUCCEEDED,
                true,
                "Succeeded",
                format!("Operation {} succeeded.", last.cluster_ops),
            ),
            _ => Fact::new(
                condition::LAST_OPERATION_SUCCEEDED,
                false,
                "Failed",
                format!("Operation {} failed.", last.cluster_ops),
            ),
        };
        upsert(&mut status.cluster_conditions, fact, now, generation);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Time {
        Time(jiff::Timestamp::from_second(second).unwrap())
    }

    fn entry(name: &str, uid: &str, status: Phase, start: i64) -> OperationRecord {
        let end = status.is_final().then(|| at(start + 1));
        OperationRecord {
            cluster_ops: name.into(),
            uid: Some(uid.into()),
            status,
            start_time: Some(at(start)),
            end_time: end,
        }
    }

    fn names(status: &ClusterStatus) -> Vec<&str> {
        status.conditions.iter().map(|entry| entry.cluster_ops.as_str()).collect()
    }

    #[test]
    fn the_newest_stands_first_and_an_operation_has_one_entry() {
        let mut status = ClusterStatus::default();
        for new in [
            entry("a", "1", Phase::Succeeded, 10),
            entry("c", "3", Phase::Running, 30),
            entry("b", "2", Phase::Failed, 20),
        ] {
            status = record(&status, &[new], |_| true, &at(40), None);
        }
        assert_eq!(names(&status), ["c", "b", "a"]);
        assert!(crd::is_true(&status.cluster_conditions, condition::BUSY));
        status = record(&status, &[entry("c", "3", Phase::Succeeded, 30)], |_| true, &at(50), None);
        assert_eq!(names(&status), ["c", "b", "a"]);
        assert!(!crd::is_true(&status.cluster_conditions, condition::BUSY));
        assert!(crd::is_true(&status.cluster_conditions, condition::LAST_OPERATION_SUCCEEDED));
    }

    #[test]
    fn a_running_entry_is_never_dropped_and_a_recreated_operation_gets_its_own() {
        let status =
            ClusterStatus { conditions: vec![entry("a", "1", Phase::Running, 10)], ..ClusterStatus::default() };
        let status = record(&status, &[entry("a", "2", Phase::Failed, 20)], |_| false, &at(30), None);
        assert_eq!(status.conditions.len(), 2);
        assert!(crd::is_true(&status.cluster_conditions, condition::BUSY));
    }
}
