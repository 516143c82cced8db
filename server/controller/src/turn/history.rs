//! A Cluster's history of operations, as pure functions. An operation's entry with status `Running` is its turn.

use api::operation::WARNINGS;
use crd::{Cluster, ClusterOperation, ClusterStatus, Fact, OperationRecord, Phase, Time, condition, upsert};

use crate::status::outcome::{Outcome, has_ended_label};

/// What is known about an operation beside its entry; nothing if it is deleted.
#[derive(Default)]
pub(crate) struct Known {
    /// Whether it was only a check.
    pub(crate) is_check: Option<bool>,
    pub(crate) outcome: Option<Outcome>,
}

/// The entry of `operation`. Entries with status Pending, which the reference controller writes for operations that wait, don't count.
pub(crate) fn entry<'a>(cluster: &'a Cluster, operation: &ClusterOperation) -> Option<&'a OperationRecord> {
    entries(cluster).iter().find(|entry| entry.status != Phase::Pending && is_of(entry, operation))
}

/// The operation that has the turn.
pub(crate) fn running(cluster: &Cluster) -> Option<&OperationRecord> {
    entries(cluster).iter().find(|entry| entry.status == Phase::Running)
}

/// All entries, newest first.
pub(crate) fn entries(cluster: &Cluster) -> &[OperationRecord] {
    cluster.status.as_ref().map_or(&[], |status| &status.conditions)
}

/// Whether `entry` is about `operation`, and not about an earlier one of the same name.
///
/// Entries of the reference controller have no uid. Such an entry is about an operation that existed when the run started, or about one
/// that was restored (its object is newer, but its label says that it has ended). An operation created later only has the same name.
pub(crate) fn is_of(entry: &OperationRecord, operation: &ClusterOperation) -> bool {
    if Some(&entry.cluster_ops) != operation.metadata.name.as_ref() {
        return false;
    }
    if entry.uid.is_some() {
        return entry.uid == operation.metadata.uid;
    }
    let (began, created) =
        (entry.start_time.as_ref().or(entry.end_time.as_ref()), &operation.metadata.creation_timestamp);
    has_ended_label(operation) || began.is_none_or(|began| created.as_ref().is_none_or(|created| created <= began))
}

/// The entry with which an operation takes its turn. Its Job will be in `namespace`.
pub(crate) fn turn_entry(operation: &ClusterOperation, namespace: &str, now: &Time) -> OperationRecord {
    OperationRecord {
        namespace: Some(namespace.to_owned()),
        status: Phase::Running,
        start_time: Some(now.clone()),
        ..named(operation)
    }
}

/// The entry with which an operation ends, whether it ran or was refused.
pub(crate) fn ended(operation: &ClusterOperation, outcome: &Outcome) -> OperationRecord {
    OperationRecord {
        status: outcome.status,
        start_time: outcome.start_time.clone().or_else(|| outcome.end_time.clone()),
        end_time: outcome.end_time.clone(),
        ..named(operation)
    }
}

fn named(operation: &ClusterOperation) -> OperationRecord {
    OperationRecord {
        cluster_ops: operation.metadata.name.clone().unwrap_or_default(),
        uid: operation.metadata.uid.clone(),
        ..OperationRecord::default()
    }
}

/// The namespace of the Job of `operation`, whether it exists or not: the one in its status or in its turn. The Cluster's reference may
/// have changed since, so it counts only if neither names a namespace (before the turn, or if an older version wrote them).
pub(crate) fn namespace(operation: &ClusterOperation, cluster: Option<&Cluster>) -> Option<String> {
    let noted = operation.status.as_ref().and_then(|status| status.job_ref.as_ref()).map(|job| job.namespace.clone());
    let of_turn = || entry(cluster?, operation)?.namespace.clone();
    // A hosted cluster may have no inventory, and so no Jobs.
    let named = || Some(cluster.filter(|cluster| cluster.spec.has_inventory())?.spec.hosts_conf_ref.namespace.clone());
    noted.or_else(of_turn).or_else(named)
}

/// Adds or replaces the entries `news` and updates the conditions that follow from the history. `keep` decides which other final entries
/// stay, and `known` says what the operations were, as long as they exist. An entry without uid counts as another operation's, see
/// [`adopted`].
///
/// Times are whole seconds. Of two entries with the same second, the one added later counts as the newer.
pub(crate) fn record(
    status: &ClusterStatus,
    news: &[OperationRecord],
    keep: impl Fn(&OperationRecord) -> bool,
    known: impl Fn(&OperationRecord) -> Known,
    now: &Time,
    generation: Option<i64>,
) -> ClusterStatus {
    let before = last_ended(status).cloned();
    let mut status = status.clone();
    let same = |a: &OperationRecord, b: &OperationRecord| a.cluster_ops == b.cluster_ops && a.uid == b.uid;
    let is_news = |old: &OperationRecord| news.iter().any(|new| same(old, new));
    let kept = |old: &OperationRecord| old.status.is_final() && keep(old);
    status.conditions.retain(|old| is_news(old) || old.status == Phase::Running || kept(old));
    for new in news {
        match status.conditions.iter_mut().find(|old| same(old, new)) {
            Some(old) => old.clone_from(new),
            None => status.conditions.insert(0, new.clone()),
        }
    }
    status.conditions.sort_by(|a, b| b.start_time.cmp(&a.start_time));
    let busy = match status.conditions.iter().find(|entry| entry.status == Phase::Running) {
        Some(entry) => {
            Fact::new(condition::BUSY, true, "OperationRunning", format!("Operation {} is running.", entry.cluster_ops))
        }
        None => Fact::new(condition::BUSY, false, "Idle", "No operation is running."),
    };
    upsert(&mut status.cluster_conditions, busy, now, generation);
    if let Some(last) = last_ended(&status) {
        let name = &last.cluster_ops;
        let (holds, reason, ended) = match last.status {
            Phase::Succeeded => (true, "Succeeded", "succeeded"),
            _ => (false, "Failed", "failed"),
        };
        let Known { is_check, outcome } = known(last);
        // The condition remembers what a deleted operation was, and how it ended. An earlier one may have had the same name.
        let is_about_it = before.is_some_and(|before| before.cluster_ops == *name && before.end_time == last.end_time);
        let mut all = status.cluster_conditions.iter();
        let old = all.find(|c| is_about_it && c.type_ == condition::LAST_OPERATION_SUCCEEDED);
        let of_check = format!("Operation {name}, only a check, {ended}");
        let is_check = is_check.unwrap_or_else(|| old.is_some_and(|old| old.message.starts_with(&of_check)));
        let sentence = if is_check { of_check } else { format!("Operation {name} {ended}") };
        let warned = format!("{sentence} with a warning: ");
        let (reason, message) = match (outcome, old) {
            (Some(outcome), _) if holds && WARNINGS.contains(&outcome.reason.as_str()) => {
                (outcome.reason, warned + &outcome.message)
            }
            (None, Some(old)) if old.message.starts_with(&warned) => (old.reason.clone(), old.message.clone()),
            _ => (reason.to_owned(), format!("{sentence}.")),
        };
        let fact = Fact::new(condition::LAST_OPERATION_SUCCEEDED, holds, reason, message);
        upsert(&mut status.cluster_conditions, fact, now, generation);
    }
    status
}

/// The entry of the operation that ended last.
fn last_ended(status: &ClusterStatus) -> Option<&OperationRecord> {
    let ended = status.conditions.iter().filter(|entry| entry.status.is_final());
    // The newest entry is first, and `max_by` returns the last of equal ones, hence `rev`.
    ended.rev().max_by(|a, b| a.end_time.cmp(&b.end_time))
}

/// Adds the uid of `operation` to an entry of the reference controller that is about it.
pub(crate) fn adopted(mut entry: OperationRecord, operation: Option<&ClusterOperation>) -> OperationRecord {
    let of = operation.filter(|operation| entry.uid.is_none() && is_of(&entry, operation));
    if let Some(operation) = of {
        entry.uid.clone_from(&operation.metadata.uid);
    }
    entry
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
            ..OperationRecord::default()
        }
    }

    fn names(status: &ClusterStatus) -> Vec<&str> {
        status.conditions.iter().map(|entry| entry.cluster_ops.as_str()).collect()
    }

    #[test]
    fn the_newest_entry_is_first_and_each_operation_has_one() {
        let mut status = ClusterStatus::default();
        for new in [
            entry("a", "1", Phase::Succeeded, 10),
            entry("c", "3", Phase::Running, 30),
            entry("b", "2", Phase::Failed, 20),
        ] {
            status = record(&status, &[new], |_| true, |_| Known::default(), &at(40), None);
        }
        assert_eq!(names(&status), ["c", "b", "a"]);
        assert!(crd::is_true(&status.cluster_conditions, condition::BUSY));
        status =
            record(&status, &[entry("c", "3", Phase::Succeeded, 30)], |_| true, |_| Known::default(), &at(50), None);
        assert_eq!(names(&status), ["c", "b", "a"]);
        assert!(!crd::is_true(&status.cluster_conditions, condition::BUSY));
        assert!(crd::is_true(&status.cluster_conditions, condition::LAST_OPERATION_SUCCEEDED));
    }

    fn said(status: &ClusterStatus) -> String {
        let last = |fact: &&crd::Condition| fact.type_ == condition::LAST_OPERATION_SUCCEEDED;
        status.cluster_conditions.iter().find(last).unwrap().message.clone()
    }

    fn check(is_check: bool) -> Known {
        Known { is_check: Some(is_check), ..Known::default() }
    }

    #[test]
    fn a_warning_is_said_as_long_as_its_operation_is_the_last() {
        let warned = |is_check| {
            let outcome = serde_json::json!({"status": "Succeeded", "reason": "PlayMatchedNoHost", "message": "No host. a.yml: 1 host."});
            Known { outcome: serde_json::from_value(outcome).unwrap(), ..check(is_check) }
        };
        let (status, a) = (ClusterStatus::default(), [entry("a", "1", Phase::Succeeded, 10)]);
        let of_check = record(&status, &a, |_| true, |_| warned(true), &at(20), None);
        assert_eq!(said(&of_check), "Operation a, only a check, succeeded with a warning: No host. a.yml: 1 host.");
        let status = record(&status, &a, |_| true, |_| warned(false), &at(20), None);
        let message = "Operation a succeeded with a warning: No host. a.yml: 1 host.";
        let next = [entry("next", "2", Phase::Running, 30)];
        for (later, known) in [(&of_check, None), (&status, None), (&status, Some(false))] {
            let known = || Known { is_check: known, ..Known::default() };
            let status = record(later, &next, |_| true, |_| known(), &at(30), None);
            assert_eq!(said(&status), said(later), "its result is not in the store yet, or it is deleted");
        }
        assert_eq!(said(&status), message);
        let last = |status: &ClusterStatus| {
            let mut all = status.cluster_conditions.iter();
            let last = all.find(|fact| fact.type_ == condition::LAST_OPERATION_SUCCEEDED).unwrap().clone();
            (last.status, last.reason)
        };
        assert_eq!(last(&status), ("True".into(), "PlayMatchedNoHost".into()));
        let namesake = [entry("a", "3", Phase::Succeeded, 30)];
        let other = record(&status, &namesake, |_| true, |_| Known::default(), &at(40), None);
        assert_eq!(said(&other), "Operation a succeeded.");
        let ended = [entry("next", "2", Phase::Succeeded, 30)];
        let status = record(&status, &ended, |_| true, |_| check(false), &at(40), None);
        assert_eq!((said(&status).as_str(), last(&status).1.as_str()), ("Operation next succeeded.", "Succeeded"));
    }

    #[test]
    fn a_deleted_check_is_still_called_a_check() {
        let status = ClusterStatus::default();
        let look = entry("look", "1", Phase::Failed, 10);
        let status = record(&status, &[look], |_| true, |_| check(true), &at(20), None);
        assert_eq!(said(&status), "Operation look, only a check, failed.");
        let next = [entry("next", "2", Phase::Running, 30)];
        let later = record(&status, &next, |_| true, |_| Known::default(), &at(30), None);
        assert_eq!(said(&later), "Operation look, only a check, failed.");
        let other = record(&status, &next, |_| true, |_| check(false), &at(30), None);
        assert_eq!(said(&other), "Operation look failed.");
        let changed =
            record(&status, &[entry("next", "2", Phase::Failed, 30)], |_| true, |_| Known::default(), &at(40), None);
        assert_eq!(said(&changed), "Operation next failed.");
    }

    #[test]
    fn of_two_ends_in_one_second_the_later_one_counts() {
        for (first, second) in [("facts", "failed"), ("failed", "facts")] {
            let steps = [
                entry(first, "1", Phase::Running, 10),
                entry(first, "1", Phase::Succeeded, 10),
                entry(second, "2", Phase::Running, 10),
                entry(second, "2", Phase::Failed, 10),
            ];
            let mut status = ClusterStatus::default();
            for step in &steps {
                status = record(&status, std::slice::from_ref(step), |_| true, |_| Known::default(), &at(11), None);
            }
            assert_eq!(names(&status), [second, first]);
            assert_eq!(said(&status), format!("Operation {second} failed."));
            let again = record(&status, &steps[1..2], |_| true, |_| Known::default(), &at(12), None);
            assert_eq!(again, status, "the same entry again changes nothing");
        }
    }

    #[test]
    fn a_running_entry_outlives_its_operation_and_its_namesake() {
        let status =
            ClusterStatus { conditions: vec![entry("a", "1", Phase::Running, 10)], ..ClusterStatus::default() };
        let status =
            record(&status, &[entry("a", "2", Phase::Failed, 20)], |_| false, |_| Known::default(), &at(30), None);
        assert_eq!(status.conditions.len(), 2);
        assert!(crd::is_true(&status.cluster_conditions, condition::BUSY));
    }

    fn operation(name: &str, uid: &str, created: i64) -> ClusterOperation {
        let mut operation = ClusterOperation::default();
        operation.metadata.name = Some(name.into());
        operation.metadata.uid = Some(uid.into());
        operation.metadata.creation_timestamp = Some(at(created));
        operation
    }

    #[test]
    fn an_entry_without_uid_is_not_about_a_later_namesake() {
        let legacy = |status| OperationRecord { uid: None, ..entry("a", "", status, 10) };
        let (first, again) = (operation("a", "1", 9), operation("a", "2", 11));
        let mut record = operation("a", "3", 12);
        record.metadata.labels = Some([(crd::LABEL_HAS_COMPLETED.into(), crd::DONE.into())].into());
        for status in [Phase::Running, Phase::Succeeded, Phase::Failed] {
            assert!(is_of(&legacy(status), &first));
            assert!(!is_of(&legacy(status), &again));
            assert!(is_of(&legacy(status), &record), "a restored operation is the same one");
        }
        assert!(!is_of(&legacy(Phase::Failed), &operation("b", "1", 9)));
        assert_eq!(adopted(legacy(Phase::Failed), Some(&first)).uid.as_deref(), Some("1"));
        assert_eq!(adopted(legacy(Phase::Failed), Some(&again)).uid, None);
    }

    #[test]
    fn a_pending_entry_of_the_reference_system_does_not_count() {
        let waiting = OperationRecord { cluster_ops: "a".into(), ..OperationRecord::default() };
        let status = Some(ClusterStatus { conditions: vec![waiting], ..ClusterStatus::default() });
        let cluster = Cluster { status, ..Cluster::default() };
        assert_eq!(super::entry(&cluster, &operation("a", "1", 9)), None);
        let status = record(
            &cluster.status.unwrap(),
            &[entry("a", "1", Phase::Running, 10)],
            |_| true,
            |_| Known::default(),
            &at(20),
            None,
        );
        assert_eq!(status.conditions.len(), 1);
    }
}
