//! The status of a pod, in the form that the kubelet gives it. Pure.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use crate::pod::{container, container_name};
use crate::run_dir::{Cause, Exit};

/// How far a pod is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stage {
    /// No slot is free. The text says why.
    Unscheduled(String),
    /// It has a slot, but its container can't start yet.
    Waiting {
        reason: &'static str,
        message: String,
    },
    Running {
        since: Timestamp,
    },
    Ended(Ended),
}

/// How the container ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Timestamp,
}

impl Ended {
    /// `written` is the termination message of the run. `stopped`: the pod was being deleted, so the end was asked for.
    pub(super) fn new(exit: &Exit, written: String, stopped: bool) -> Self {
        let message = match &exit.cause {
            Cause::Exited => written,
            Cause::NotStarted(why) => format!("the container could not be started: {why}"),
            Cause::Gone => {
                "the process is gone: it was killed, or the machine was restarted. Its exit code is unknown".into()
            }
            Cause::Signal(_) if !written.is_empty() => written,
            Cause::Signal(9) if stopped => "it did not end within its grace period and was killed".into(),
            Cause::Signal(signal) if stopped => format!("signal {signal} stopped it"),
            Cause::Signal(signal) => format!("the process is gone: it was killed by signal {signal} from outside"),
        };
        let reason = match exit.cause {
            Cause::NotStarted(_) => "StartError",
            _ if exit.code == 0 => "Completed",
            _ => "Error",
        };
        Self { code: exit.code, reason, message, started_at: exit.started_at, finished_at: exit.finished_at }
    }
}

/// A merge patch for `/status`. `image` names what runs instead of the container's image.
pub(super) fn patch(pod: &Pod, stage: &Stage, image: &str, now: Timestamp) -> Value {
    let (phase, ready, reason) = match stage {
        Stage::Unscheduled(_) | Stage::Waiting { .. } => ("Pending", "False", Some("ContainersNotReady")),
        Stage::Running { .. } => ("Running", "True", None),
        Stage::Ended(ended) if ended.code == 0 => ("Succeeded", "False", Some("PodCompleted")),
        Stage::Ended(_) => ("Failed", "False", Some("PodFailed")),
    };
    let mut conditions = Vec::new();
    let mut add = |kind: &str, status: &str, reason: Option<&str>, message: Option<&str>| {
        let since = old_condition(pod, kind)
            .filter(|old| old.status == status)
            .and_then(|old| old.last_transition_time.clone());
        let since = since.map_or(now, |time| time.0);
        conditions.push(json!({"type": kind, "status": status, "reason": reason, "message": message,
            "lastProbeTime": null, "lastTransitionTime": Time(since)}));
    };
    if let Stage::Unscheduled(why) = stage {
        add("PodScheduled", "False", Some("Unschedulable"), Some(why));
        return json!({"metadata": {"uid": pod.metadata.uid}, "status": {"phase": phase, "conditions": conditions}});
    }
    let initialized = matches!(stage, Stage::Ended(Ended { code: 0, .. })).then_some("PodCompleted");
    let started = matches!(stage, Stage::Running { .. });
    let name = container_name(pod);
    let unready = format!("containers with unready status: [{name}]");
    let unready = (ready == "False" && reason == Some("ContainersNotReady")).then_some(unready.as_str());
    add("PodReadyToStartContainers", if started { "True" } else { "False" }, None, None);
    add("Initialized", "True", initialized, None);
    add("Ready", ready, reason, unready);
    add("ContainersReady", ready, reason, unready);
    add("PodScheduled", "True", None, None);
    let start_time = pod.status.as_ref().and_then(|status| status.start_time.as_ref()).map_or(now, |time| time.0);
    json!({"metadata": {"uid": pod.metadata.uid}, "status": {
        "phase": phase,
        "conditions": conditions,
        "startTime": Time(start_time),
        "hostIP": "127.0.0.1",
        "containerStatuses": [container_status(pod, stage, image)],
    }})
}

fn container_status(pod: &Pod, stage: &Stage, image: &str) -> Value {
    let id = format!("kubeonkube://{}", pod.metadata.uid.as_deref().unwrap_or_default());
    let running = matches!(stage, Stage::Running { .. });
    let state = match stage {
        Stage::Unscheduled(_) => json!({}),
        Stage::Waiting { reason, message } => json!({"waiting": {"reason": reason, "message": message}}),
        Stage::Running { since } => json!({"running": {"startedAt": Time(*since)}}),
        Stage::Ended(ended) => {
            json!({"terminated": {"exitCode": ended.code, "reason": ended.reason, "message": ended.message, "containerID": id,
            "startedAt": ended.started_at.map(Time), "finishedAt": Time(ended.finished_at)}})
        }
    };
    let wanted_image = container(pod).and_then(|container| container.image.as_deref());
    let waiting = matches!(stage, Stage::Waiting { .. });
    let id = (!waiting).then_some(id);
    json!({"name": container_name(pod), "ready": running, "started": running, "restartCount": 0, "state": state, "lastState": {},
        "image": wanted_image, "imageID": image, "containerID": id})
}

fn old_condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::phase;

    fn pod() -> Pod {
        let pod = json!({"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        serde_json::from_value(pod).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn exit(code: i32, cause: Cause) -> Exit {
        Exit { code, cause, started_at: Some(at(0)), finished_at: at(5) }
    }

    fn status(pod: &Pod, stage: &Stage, now: Timestamp) -> Pod {
        let mut next = serde_json::to_value(pod).unwrap();
        next["status"] = patch(pod, stage, "local", now)["status"].take();
        serde_json::from_value(next).unwrap()
    }

    #[test]
    fn an_unchanged_condition_keeps_its_transition_time() {
        let waiting = status(&pod(), &Stage::Waiting { reason: "ContainerCreating", message: String::new() }, at(0));
        let running = status(&waiting, &Stage::Running { since: at(3) }, at(3));
        let since = |pod: &Pod, kind: &str| old_condition(pod, kind).unwrap().last_transition_time.clone().unwrap().0;
        assert_eq!(
            (phase(&running), since(&running, "PodScheduled"), since(&running, "Ready")),
            ("Running", at(0), at(3))
        );
        let start = |pod: &Pod| pod.status.as_ref().unwrap().start_time.clone().unwrap().0;
        assert_eq!(start(&running), at(0));
    }

    #[test]
    fn a_terminated_container_has_code_reason_and_message() {
        let ended = |code, cause, written: &str, stopped| {
            let pod = status(&pod(), &Stage::Ended(Ended::new(&exit(code, cause), written.into(), stopped)), at(9));
            let state = pod.status.as_ref().unwrap().container_statuses.as_ref().unwrap()[0]
                .state
                .clone()
                .unwrap()
                .terminated
                .unwrap();
            (phase(&pod).to_owned(), state.exit_code, state.reason.unwrap(), state.message.unwrap())
        };
        let is = |phase: &str, code, reason: &str, message: &str| {
            (phase.to_owned(), code, reason.to_owned(), message.to_owned())
        };
        assert_eq!(ended(0, Cause::Exited, "{}", false), is("Succeeded", 0, "Completed", "{}"));
        assert_eq!(ended(2, Cause::Exited, "bad", false), is("Failed", 2, "Error", "bad"));
        assert!(ended(137, Cause::Signal(9), "", false).3.starts_with("the process is gone"));
        assert!(ended(137, Cause::Gone, "half", false).3.starts_with("the process is gone"));
        assert_eq!(ended(137, Cause::Signal(9), "half", true).3, "half");
        assert!(ended(137, Cause::Signal(9), "", true).3.contains("grace period"));
        assert_eq!(ended(128, Cause::NotStarted("x: not found".into()), "", false).2, "StartError");
    }
}
