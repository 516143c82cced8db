//! Kubernetes-style conditions, for `kubectl describe` and `kubectl wait`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The types that `ClusterOperation.status.conditions`, `Cluster.status.clusterConditions` and `Cluster.status.hosted.conditions` use.
pub mod condition {
    /// Operation: it is queued. The message says what it waits for.
    pub const QUEUED: &str = "Queued";
    /// Operation: its Job exists and has not ended.
    pub const RUNNING: &str = "Running";
    /// Operation: it succeeded.
    pub const COMPLETE: &str = "Complete";
    /// Operation: it failed or was cancelled. Reason and message say why.
    pub const FAILED: &str = "Failed";
    /// Operation: another client wrote a result on it while it was queued or running. The controller ignores that result.
    pub const RESULT_IGNORED: &str = "ResultIgnored";
    /// Operation: its secret result, such as a kubeconfig, is stored. If that is false, the reason is `NoResult` or `ResultLost`.
    pub const RESULT_STORED: &str = "ResultStored";
    /// Cluster: everything that it refers to exists, in one namespace.
    pub const INPUTS_READY: &str = "InputsReady";
    /// Cluster: an operation is running on it.
    pub const BUSY: &str = "Busy";
    /// Cluster: the last operation that ended succeeded.
    pub const LAST_OPERATION_SUCCEEDED: &str = "LastOperationSucceeded";
    /// Hosted: the spec can be realised.
    pub const ACCEPTED: &str = "Accepted";
    /// Hosted: the Service of the API server has an address.
    pub const ADDRESS_READY: &str = "AddressReady";
    /// Hosted: all keys, certificates and kubeconfigs are stored.
    pub const CERTIFICATES_READY: &str = "CertificatesReady";
    /// Hosted: etcd answers.
    pub const ETCD_READY: &str = "EtcdReady";
    /// Hosted: all API servers are ready, and their address answers.
    pub const API_SERVER_READY: &str = "ApiServerReady";
    /// Hosted: controller manager and scheduler are ready.
    pub const CONTROLLERS_READY: &str = "ControllersReady";
    /// Hosted: the first objects in the new cluster exist.
    pub const BOOTSTRAP_READY: &str = "BootstrapReady";
    /// Hosted: the add-ons are stored in the new cluster. Their pods need machines.
    pub const ADDONS_APPLIED: &str = "AddonsApplied";
    /// Operation: it succeeded. Cluster: its inputs are ready, and its control plane if that is hosted. Hosted: all steps are done.
    pub const READY: &str = "Ready";
    /// Operation, Cluster: its state will change by itself. Absent otherwise, as other tools expect it of this type.
    pub const RECONCILING: &str = "Reconciling";
    /// Operation, Cluster: it failed, and nothing will change without a user. Absent otherwise.
    pub const STALLED: &str = "Stalled";
}

/// The reason in the status of an operation that had ended before its object was created: it was exported and applied again, or
/// restored from a backup. It is only kept as a record.
pub const RESTORED: &str = "Restored";

/// The reason of the condition Reconciling of an operation that no controller has seen. The definition has it, as the default of the status.
pub const UNSEEN: &str = "NotSeen";

/// A condition without its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// One of [`condition`]'s constants.
    pub kind: &'static str,
    /// `None` means Unknown.
    pub holds: Option<bool>,
    /// One CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
}

impl Fact {
    /// A condition that is true or false.
    pub fn new(kind: &'static str, holds: bool, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, holds: Some(holds), reason: reason.into(), message: message.into() }
    }
}

/// Adds `fact` to `conditions`, or updates it there. As in Kubernetes, the transition time only changes with the status.
pub fn upsert(conditions: &mut Vec<Condition>, fact: Fact, now: &Time, generation: Option<i64>) {
    let status = match fact.holds {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    let at = conditions.iter().position(|c| c.type_ == fact.kind);
    let since = at
        .map(|at| &conditions[at])
        .filter(|old| old.status == status)
        .map_or(now, |old| &old.last_transition_time)
        .clone();
    let new = Condition {
        type_: fact.kind.to_owned(),
        status: status.to_owned(),
        reason: fact.reason,
        message: fact.message,
        last_transition_time: since,
        observed_generation: generation,
    };
    match at {
        Some(at) => conditions[at] = new,
        None => conditions.push(new),
    }
}

/// How an object stands, for tools that know only the types Ready, Reconciling and Stalled (kstatus).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is as wanted.
    Ready,
    /// It isn't yet.
    Reconciling,
    /// It isn't, and stays so without a user.
    Stalled,
}

/// Sets the conditions of these types, with one reason and message. Those that don't hold are removed, except for Ready, which is false then.
pub fn set_standing(
    conditions: &mut Vec<Condition>,
    standing: Standing,
    reason: &str,
    message: &str,
    now: &Time,
    generation: Option<i64>,
) {
    let holding = match standing {
        Standing::Ready => None,
        Standing::Reconciling => Some(condition::RECONCILING),
        Standing::Stalled => Some(condition::STALLED),
    };
    let others = [condition::RECONCILING, condition::STALLED];
    conditions.retain(|c| !others.contains(&c.type_.as_str()) || Some(c.type_.as_str()) == holding);
    let is_ready = standing == Standing::Ready;
    upsert(conditions, Fact::new(condition::READY, is_ready, reason, message), now, generation);
    if let Some(kind) = holding {
        upsert(conditions, Fact::new(kind, true, reason, message), now, generation);
    }
}

/// Whether there is a condition of this type, and it is True.
pub fn is_true(conditions: &[Condition], kind: &str) -> bool {
    conditions.iter().any(|c| c.type_ == kind && c.status == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_time_only_changes_with_the_status() {
        let (early, late) =
            (Time("2026-01-01T00:00:00Z".parse().unwrap()), Time("2026-01-02T00:00:00Z".parse().unwrap()));
        let mut conditions = Vec::new();
        upsert(&mut conditions, Fact::new(condition::QUEUED, true, "ClusterBusy", "waits for a"), &early, None);
        upsert(&mut conditions, Fact::new(condition::QUEUED, true, "ClusterBusy", "waits for b"), &late, None);
        assert_eq!((conditions.len(), conditions[0].message.as_str()), (1, "waits for b"));
        assert_eq!(conditions[0].last_transition_time, early);
        upsert(&mut conditions, Fact::new(condition::QUEUED, false, "Started", ""), &late, None);
        assert_eq!(conditions[0].last_transition_time, late);
        assert!(!is_true(&conditions, condition::QUEUED));
    }
}
