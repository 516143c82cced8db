//! The entrypoint's summary of a run, without anything that may be secret.

use api::run::StepRole;
use crd::ClusterOperation;
use k8s_openapi::api::core::v1::Pod;
use operation::{TerminatedStep, Termination, termination, title};

/// The pod without any text of the run in its summary: only numbers are left, and the titles that follow from the operation.
pub(crate) fn without_words(operation: &ClusterOperation, pod: &Pod) -> Pod {
    let mut pod = pod.clone();
    let containers = pod.status.iter_mut().flat_map(|status| status.container_statuses.iter_mut().flatten());
    for state in containers.filter_map(|container| container.state.as_mut()?.terminated.as_mut()) {
        let numbers = termination(state).map(|said| only_numbers(operation, said));
        state.message = numbers.map(|said| serde_json::to_string(&said).expect("a summary is plain data"));
    }
    pod
}

fn only_numbers(operation: &ClusterOperation, mut said: Termination) -> Termination {
    for step in &mut said.steps {
        step.title = match step.role {
            StepRole::Main => title(&operation.spec),
            StepRole::Pre => "A step before the action".into(),
            StepRole::Post => "A step after the action".into(),
        };
        let TerminatedStep { unfinished, unreached, unreachable, untouched, made, .. } = step;
        for hosts in [unfinished, unreached, unreachable, untouched, made] {
            hosts.hosts.clear();
        }
        step.unmatched.clear();
    }
    Termination { failures: Vec::new(), failed_hosts: 0, running: None, message: String::new(), ..said }
}
