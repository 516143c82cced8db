//! The summary that the container of a run leaves when it ends.

use api::operation::RunEnd;
use api::run::{InFlight, StepRole, TaskFailure};
use crd::Recap;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};
use serde::{Deserialize, Serialize};

/// The container's termination message, written by the entrypoint. It decides whether the operation succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Termination {
    /// Version of this format: 1.
    pub v: u32,
    /// Exit code of the run.
    pub rc: i32,
    /// The entrypoint received a signal and stopped the run in an orderly way.
    #[serde(default)]
    pub cancelled: bool,
    /// In the order in which they ran.
    #[serde(default)]
    pub steps: Vec<TerminatedStep>,
    /// Number of successful steps that `steps` leaves out, because the message has limited space.
    #[serde(default)]
    pub dropped: u32,
    /// The first failures, at most 3.
    #[serde(default)]
    pub failures: Vec<TerminatedFailure>,
    /// How many hosts failed.
    #[serde(default)]
    pub failed_hosts: u32,
    /// The task that was running when the run was stopped.
    #[serde(default)]
    pub running: Option<InFlight>,
    /// A sentence if the run could not start (a missing playbook, no ansible).
    #[serde(default)]
    pub message: String,
}

/// A task that failed, on one host or on several with the same message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminatedFailure {
    /// On the first of the hosts.
    #[serde(flatten)]
    pub first: TaskFailure,
    /// All hosts, if there are several.
    #[serde(default)]
    pub hosts: Hosts,
}

/// One step in a [`Termination`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminatedStep {
    /// Before, main or after.
    pub role: StepRole,
    /// One line for logs and events.
    pub title: String,
    /// `playbook` or `shell`.
    pub kind: String,
    /// Exit code of the step.
    pub rc: i32,
    /// Summed over hosts. `None` if a playbook ran no task, and for shell steps.
    #[serde(default)]
    pub recap: Option<Recap>,
    /// The hosts that it had started on and wasn't done with when it stopped.
    #[serde(default)]
    pub unfinished: Hosts,
    /// The hosts that it hadn't started on when it stopped, or on which it ran no task at all. If it succeeded, those for which its plays
    /// ended before their first task.
    #[serde(default)]
    pub unreached: Hosts,
    /// The hosts that were unreachable, which the playbook ignores.
    #[serde(default)]
    pub unreachable: Hosts,
    /// The hosts that no task needed a connection to: all were skipped, delegated, or of a kind such as `debug`.
    #[serde(default)]
    pub untouched: Hosts,
    /// The hosts that a playbook with `--check` changed nevertheless, by tasks with `check_mode: false`.
    #[serde(default)]
    pub made: Hosts,
    /// How many changes of the recap these were.
    #[serde(default)]
    pub made_changes: u32,
    /// How many results, which the recap doesn't count as changes, would have changed something: a playbook without `--check` has tasks with
    /// `check_mode: true`.
    #[serde(default)]
    pub would_change: u32,
    /// Whether the playbook did something on a machine.
    #[serde(default)]
    pub reached: bool,
    /// Plays of the user that matched no host, at most 3. A limit doesn't count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<UnmatchedPlay>,
    /// How many such plays there are.
    #[serde(default)]
    pub unmatched_plays: u32,
}

/// Some hosts of a playbook, in the order of the inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    pub count: u32,
    /// The names of the first 5.
    pub hosts: Vec<String>,
}

/// A play that matched no host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmatchedPlay {
    pub play: String,
    /// What its pattern names and the inventory doesn't have.
    pub names: Vec<String>,
    /// Its pattern, if the inventory has all that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// What the run page shows of it.
impl From<Termination> for RunEnd {
    fn from(Termination { failures, running, message, .. }: Termination) -> Self {
        Self { failure: failures.into_iter().next().map(|failure| failure.first), running, message }
    }
}

/// How the container of the run ended; `None` while it runs.
pub fn terminated(pod: &Pod) -> Option<&ContainerStateTerminated> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    containers.iter().find(|container| container.name == crd::PRODUCT)?.state.as_ref()?.terminated.as_ref()
}

/// The summary that the entrypoint left as termination message; `None` if it is missing or has another
/// format version.
pub fn termination(state: &ContainerStateTerminated) -> Option<Termination> {
    serde_json::from_str::<Termination>(state.message.as_deref()?).ok().filter(|summary| summary.v == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(container: &str, message: &str) -> Option<Termination> {
        let status = serde_json::json!({"name": container, "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"terminated": {"exitCode": 0, "message": message}}});
        let pod: Pod = serde_json::from_value(serde_json::json!({"status": {"containerStatuses": [status]}})).unwrap();
        termination(terminated(&pod)?)
    }

    #[test]
    fn only_a_summary_of_the_runs_own_container_counts() {
        assert_eq!(summary(crd::PRODUCT, r#"{"v":1,"rc":3}"#).unwrap().rc, 3);
        assert_eq!(summary("sidecar", r#"{"v":1,"rc":3}"#), None);
        assert_eq!(summary(crd::PRODUCT, r#"{"v":2,"rc":3}"#), None, "another format");
        assert_eq!(summary(crd::PRODUCT, "Killed"), None);
    }
}
