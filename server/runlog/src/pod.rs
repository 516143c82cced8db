//! What the collector needs to know about a pod.

use k8s_openapi::api::core::v1::{ContainerState, Pod};

/// The container whose log is the log of the run.
pub(crate) const CONTAINER: &str = "kubeonkube";

/// The pod of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodFacts {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The uid of the Job, which identifies the run in this crate.
    pub(crate) job: String,
    pub(crate) operation: String,
    /// The Secret with the run's inputs and token.
    pub(crate) inputs: String,
    pub(crate) state: PodState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PodState {
    /// The container hasn't started, for this reason.
    Waiting(String),
    Running,
    /// The container writes no more.
    Ended {
        /// Whether it had started.
        ran: bool,
    },
    /// The pod was deleted.
    Gone {
        /// Whether the container had started.
        ran: bool,
    },
}

impl PodState {
    /// Whether nothing more will be written.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Gone { .. })
    }

    /// The state after the pod's deletion.
    pub(crate) fn deleted(&self) -> Self {
        Self::Gone { ran: matches!(self, Self::Running | Self::Ended { ran: true } | Self::Gone { ran: true }) }
    }
}

/// The facts of a run's pod. `None` for any other pod: one without our label for operations, or without a Job as its owner.
pub(crate) fn facts(pod: &Pod) -> Option<PodFacts> {
    let meta = &pod.metadata;
    let job = meta.owner_references.iter().flatten().find(|o| o.kind == "Job" && o.controller == Some(true))?;
    let operation = meta.labels.as_ref()?.get(crd::LABEL_OPERATION)?.clone();
    let volumes = pod.spec.iter().flat_map(|s| s.volumes.iter().flatten());
    let inputs = volumes.filter(|v| v.name == "inputs").find_map(|v| v.secret.as_ref()?.secret_name.clone());
    Some(PodFacts {
        namespace: meta.namespace.clone()?,
        name: meta.name.clone()?,
        uid: meta.uid.clone()?,
        job: job.uid.clone(),
        inputs: inputs.unwrap_or_else(|| crd::inputs_name(&operation)),
        operation,
        state: state(pod),
    })
}

fn state(pod: &Pod) -> PodState {
    let status = pod.status.as_ref();
    let phase = status.and_then(|s| s.phase.as_deref()).unwrap_or("Pending");
    let container = status.iter().flat_map(|s| s.container_statuses.iter().flatten()).find(|c| c.name == CONTAINER);
    match container.and_then(|c| c.state.as_ref()) {
        Some(ContainerState { terminated: Some(_), .. }) => return PodState::Ended { ran: true },
        Some(ContainerState { running: Some(_), .. }) => return PodState::Running,
        _ if matches!(phase, "Succeeded" | "Failed") => return PodState::Ended { ran: false },
        _ => {}
    }
    let waiting = container.and_then(|c| c.state.as_ref()?.waiting.as_ref());
    let why = match waiting {
        Some(waiting) => sentence(waiting.reason.as_deref(), waiting.message.as_deref()),
        None => {
            let conditions = status.iter().flat_map(|s| s.conditions.iter().flatten());
            let unmet = conditions.filter(|c| c.status == "False").find(|c| c.type_ == "PodScheduled");
            unmet.and_then(|c| sentence(c.reason.as_deref(), c.message.as_deref()))
        }
    };
    PodState::Waiting(why.unwrap_or_else(|| "it is waiting to be scheduled".into()))
}

fn sentence(reason: Option<&str>, message: Option<&str>) -> Option<String> {
    match (reason.filter(|r| !r.is_empty()), message.filter(|m| !m.is_empty())) {
        (Some("ContainerCreating" | "PodInitializing"), None) => Some("its container is being created".into()),
        (Some(reason), Some(message)) => Some(format!("{reason}: {message}")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn state_of(status: &Value) -> PodState {
        let pod = json!({
            "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"kubeonkube.clay.io/operation": "grow"},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-1", "controller": true}]},
            "spec": {"containers": [], "volumes": [{"name": "inputs", "secret": {"secretName": "grow-inputs"}}]},
            "status": status,
        });
        let facts = facts(&serde_json::from_value(pod).unwrap()).expect("the pod belongs to a run");
        assert_eq!((facts.job.as_str(), facts.inputs.as_str()), ("job-1", "grow-inputs"));
        facts.state
    }

    #[test]
    fn a_pod_says_why_it_waits() {
        let pulling = json!({"phase": "Pending", "containerStatuses": [{"name": "kubeonkube", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]});
        assert_eq!(state_of(&pulling), PodState::Waiting("ImagePullBackOff: no such image".into()));
        let unscheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}]});
        assert_eq!(state_of(&unscheduled), PodState::Waiting("Unschedulable: 0/3 nodes fit".into()));
    }

    #[test]
    fn an_evicted_pod_that_never_ran_has_ended() {
        assert_eq!(state_of(&json!({"phase": "Failed", "reason": "Evicted"})), PodState::Ended { ran: false });
        assert_eq!(PodState::Waiting(String::new()).deleted(), PodState::Gone { ran: false });
        assert_eq!(PodState::Running.deleted(), PodState::Gone { ran: true });
    }
}
