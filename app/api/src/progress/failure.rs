//! Failed tasks, and which of them made the run fail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RunProgress;

/// A task that failed on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    pub task: u32,
    pub host: String,
    pub message: String,
    pub unreachable: bool,
    /// `ignore_errors` let it pass, or a `rescue` took over.
    pub ignored: bool,
    /// First and last text line of the failure's output.
    pub lines: (u64, u64),
    /// The step it belongs to.
    pub step: u32,
}

impl Failure {
    /// Maximum number of failures that are kept. More would not help a reader.
    pub const KEPT: usize = 500;
}

impl RunProgress {
    /// The failures that made hosts fail. Leaves out ignored failures and those that a `rescue` recovered from: if the step's
    /// recap reports no failure for the host, all were recovered; if it reports one, only the host's last failure counts.
    #[must_use]
    pub fn standing_failures(&self) -> Vec<&Failure> {
        let real: Vec<&Failure> = self.failures.iter().filter(|failure| !failure.ignored).collect();
        let mut last: BTreeMap<(u32, &str), &Failure> = BTreeMap::new();
        for failure in &real {
            last.insert((failure.step, &failure.host), failure);
        }
        let recovered = |failure: &Failure| {
            self.recap_of(failure.step, &failure.host).is_some_and(|stats| {
                stats.failed + stats.unreachable == 0
                    || !std::ptr::eq(last[&(failure.step, failure.host.as_str())], failure)
            })
        };
        real.into_iter().filter(|failure| !recovered(failure)).collect()
    }

    /// The failure that the termination message refers to by host and task name.
    #[must_use]
    pub fn failure_of(&self, host: &str, task: &str) -> Option<&Failure> {
        let named = |failure: &&Failure| self.task(failure.task).is_some_and(|t| t.name == task);
        self.failures.iter().rev().filter(|failure| failure.host == host && !failure.ignored).find(named)
    }
}
