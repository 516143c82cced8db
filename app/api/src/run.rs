//! The events of a run.
//!
//! The callback plugin (`deploy/runner/callback/`) writes one event per line of stdout, marked with the RFC 7464 record
//! separator and the run's token; everything else on stdout is text. Text lines and events are numbered separately.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One numbered event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Number of the event in the run: starts at 1 and increases strictly. The collector counts; what the pod sends doesn't count.
    pub n: u64,
    /// When it happened, in milliseconds since the Unix epoch, by the clock of the pod.
    pub at: i64,
    /// Number of the text line before the event; 0 before the first line. The collector sets it; the pod doesn't send it.
    #[serde(default)]
    pub after: u64,
    pub body: EventBody,
}

/// What happened. `step`, `play` and `task` count from 1 over the whole run.
///
/// The plugin writes flat JSON objects with the variant in the field `type`. Server, journal and page use nested (externally
/// tagged) JSON instead, because the code that reads flat, tagged JSON is three times as large in the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventBody {
    /// A hook or the action starts.
    StepStart { step: u32, role: StepRole, title: String },
    /// The step ended with this exit code.
    StepEnd { step: u32, rc: i32 },
    /// A play starts.
    PlayStart { play: u32, name: String },
    /// A task (or handler) starts.
    TaskStart { task: u32, play: u32, name: String, action: String, handler: bool },
    /// A task starts on one host.
    HostStart { task: u32, host: String },
    /// A task, or one item of its loop, ended on one host.
    HostResult {
        task: u32,
        host: String,
        result: HostResult,
        /// Duration in milliseconds.
        ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        /// A failure that `ignore_errors` let pass.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ignored: bool,
    },
    /// A task with `until` is retried.
    Retry { task: u32, host: String, attempt: u32, retries: u32 },
    /// The recap of one playbook.
    Stats { hosts: BTreeMap<String, HostStats> },
    /// ansible gave a playbook up, which gets no recap then: it was stopped, or an error ended it.
    GivenUp {
        /// The hosts that the playbook wasn't done with, without those that failed.
        left: Vec<String>,
        /// The hosts that failed or were unreachable.
        failed: Vec<String>,
    },
    /// A machine-readable result that the playbook published.
    Outcome { key: String, value: serde_json::Value },
}

impl EventBody {
    /// The recap of a playbook. If ansible gave it up, the hosts on which it must be repeated, as those that are left.
    #[must_use]
    pub fn into_recap(self) -> Option<BTreeMap<String, HostStats>> {
        let left = HostStats { left: true, ..HostStats::default() };
        match self {
            Self::Stats { hosts } => Some(hosts),
            Self::GivenUp { left: others, failed } => {
                Some(others.into_iter().chain(failed).map(|host| (host, left)).collect())
            }
            _ => None,
        }
    }
}

/// The position of a step in its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    /// A pre-hook.
    Pre,
    /// The action of the operation.
    Main,
    /// A post-hook.
    Post,
}

/// How a task ended on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostResult {
    /// Nothing had to change.
    Ok,
    /// Something changed. In a run with `--check`, it would change.
    Changed,
    /// Something changed although the run has `--check`: the task has `check_mode: false`.
    Made,
    /// Something would change, although the run has no `--check`: the task has `check_mode: true`.
    WouldChange,
    /// Its condition was false.
    Skipped,
    /// The task failed.
    Failed,
    /// The task failed, and a `rescue` takes over.
    Rescued,
    /// The host could not be reached.
    Unreachable,
}

/// The statistics of one host in a recap, counted as by ansible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct HostStats {
    /// With the failures that were ignored.
    pub ok: u32,
    pub changed: u32,
    /// How many of `changed` were made although the run has `--check`.
    pub made: u32,
    /// How many results, which `changed` leaves out, would have changed something in a run without `--check`.
    pub would_change: u32,
    pub unreachable: u32,
    pub failed: u32,
    pub skipped: u32,
    pub rescued: u32,
    pub ignored: u32,
    /// The host's place in the inventory, from 1; 0 if the plugin didn't tell.
    pub place: u32,
    /// Whether a result came from the machine itself, and not from a task that ran on the controller only, such as `debug`. `None` if the
    /// plugin didn't tell.
    pub reached: Option<bool>,
    /// Whether the playbook stopped before it was done with this host.
    pub left: bool,
    /// Whether the playbook succeeded, but `meta` ended its plays before their first task on this host.
    pub passed_over: bool,
    /// Whether the host was unreachable, which the playbook ignores, and no result came from it.
    pub out_of_reach: bool,
    /// Whether no task needed a connection to the host: all were skipped, delegated, or of a kind such as `debug`.
    pub untouched: bool,
}

impl HostStats {
    /// How many tasks succeeded.
    #[must_use]
    pub fn succeeded(&self) -> u32 {
        self.ok.saturating_sub(self.ignored)
    }

    /// Whether the run must be repeated on this host: it failed, or the run stopped before it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.failed + self.unreachable > 0 || self.left
    }

    /// Whether a task has ended on this host.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.ok + self.unreachable + self.failed + self.skipped + self.rescued + self.ignored > 0
    }
}

/// A task that failed on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    pub host: String,
    pub task: String,
    #[serde(default)]
    pub message: String,
}

/// The task that was running when a run was stopped, and on which hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    pub task: String,
    pub hosts: Vec<String>,
}
