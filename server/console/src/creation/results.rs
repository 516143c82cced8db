//! The results of a check on each host, and the hosts on which the creation failed. Pure.

use std::collections::HashMap;

use api::cluster::{CheckResult, CheckedHost, HostFailure};
use api::progress::{Cell, Failure, RunProgress};
use api::run::HostStats;

/// The playbooks end every message of a check with this sentence. The page says it once, for all hosts.
const NOTHING_CHANGED: &str = " No machine was changed.";

/// The result on each of `hosts`, after the run has ended.
pub(super) fn checked<'h>(
    hosts: impl Iterator<Item = &'h str>,
    progress: &RunProgress,
    succeeded: bool,
) -> Vec<CheckedHost> {
    let failures = progress.standing_failures();
    let found = |name: &str| failures.iter().rfind(|failure| failure.host == name);
    hosts
        .map(|name| {
            let (result, message) = match found(name) {
                Some(failure) if failure.unreachable => (CheckResult::Unreachable, message(failure)),
                Some(failure) => (CheckResult::Failed, message(failure)),
                None if has_passed(progress, name, succeeded) => (CheckResult::Passed, String::new()),
                None => (CheckResult::NotChecked, String::new()),
            };
            CheckedHost { name: name.into(), result, message, cause: String::new() }
        })
        .collect()
}

/// Whether the check has judged the host. If a host failed, the run ended there: only hosts with a result in that last task were judged,
/// and only a task that reports problems judges.
fn has_passed(progress: &RunProgress, host: &str, succeeded: bool) -> bool {
    if succeeded {
        return progress.recaps.iter().any(|(_, hosts)| hosts.get(host).is_some_and(HostStats::has_results));
    }
    let judged = progress.tasks.last().filter(|task| task.action.rsplit('.').next() == Some("fail"));
    judged.is_some_and(|task| {
        [Cell::Ok, Cell::Skipped].into_iter().any(|cell| task.hosts_at(cell, &progress.hosts).contains(&host))
    })
}

/// The message without what the page says itself.
fn message(failure: &Failure) -> String {
    let message = failure.message.trim();
    let message = message.strip_prefix(&format!("{}: ", failure.host)).unwrap_or(message);
    message.strip_suffix(NOTHING_CHANGED).unwrap_or(message).to_owned()
}

/// The hosts on which a run failed, each with its last failure. They are in the order of `hosts`: ansible reports hosts that fail at the
/// same time in any order.
pub(super) fn failures<'h>(hosts: impl Iterator<Item = &'h str>, progress: &RunProgress) -> Vec<HostFailure> {
    let standing = progress.standing_failures();
    let mut shown: Vec<HostFailure> = Vec::new();
    for failure in standing.into_iter().rev() {
        if shown.iter().all(|there| there.host != failure.host) {
            shown.push(HostFailure {
                host: failure.host.clone(),
                task: progress.task(failure.task).map(|task| task.name.clone()).unwrap_or_default(),
                message: failure.message.clone(),
                cause: String::new(),
                unreachable: failure.unreachable,
            });
        }
    }
    let order: HashMap<&str, usize> = hosts.zip(0..).collect();
    // The last ones are hosts that the inventory doesn't have any more.
    shown.sort_by_key(|failure| order.get(failure.host.as_str()).copied().unwrap_or(usize::MAX));
    shown
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use api::run::{EventBody, RunEvent};

    use super::*;

    #[test]
    fn a_host_that_a_check_passed_over_has_not_passed() {
        let checked = HostStats { ok: 1, ..HostStats::default() };
        let passed_over = HostStats { passed_over: true, ..HostStats::default() };
        let hosts = BTreeMap::from([("n1".to_owned(), checked), ("n2".to_owned(), passed_over)]);
        let body = EventBody::Stats { hosts };
        let progress = RunProgress::from_events(&[RunEvent { n: 1, at: 0, after: 0, body }]);
        let results = super::checked(["n1", "n2", "n3"].into_iter(), &progress, true);
        let results: Vec<CheckResult> = results.into_iter().map(|host| host.result).collect();
        assert_eq!(results, [CheckResult::Passed, CheckResult::NotChecked, CheckResult::NotChecked]);
    }
}
