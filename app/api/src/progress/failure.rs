//! What failed, and which of it decided the run.

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
    /// `ignore_errors` let it pass.
    pub ignored: bool,
    /// First and last text line that tell of it.
    pub lines: (u64, u64),
    /// The step it belongs to.
    pub step: u32,
}

impl Failure {
    /// The most failures that are kept; more would not help a person.
    pub const KEPT: usize = 500;
}

impl RunProgress {
    /// The failures that made hosts fail. Ignored ones are left out, and so are those that a `rescue` recovered from: the recap
    /// of their step has no failure for the host. For a host that failed in the end, its last failed task counts.
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
