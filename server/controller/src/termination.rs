//! What the container of a run left behind: its exit, and the entrypoint's summary as termination message.

use api::run::{StepRole, Termination};
use crd::{ClusterOperation, PRODUCT};
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};

use crate::plan;

/// How the container of the run ended.
pub(crate) fn terminated(pod: &Pod) -> Option<&ContainerStateTerminated> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    containers.iter().find(is_ours)?.state.as_ref()?.terminated.as_ref()
}

/// The entrypoint's summary; None where something else stands there.
pub(crate) fn termination(state: &ContainerStateTerminated) -> Option<Termination> {
    serde_json::from_str::<Termination>(state.message.as_deref()?).ok().filter(|said| said.v == 1)
}

/// The pod with nothing in its summary but numbers, and what the operation itself calls its action.
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
    let spec = &operation.spec;
    for step in &mut said.steps {
        step.title = match step.role {
            StepRole::Main => plan::title(spec.action_type, spec.action_source, &spec.action),
            StepRole::Pre => "A step before the action".into(),
            StepRole::Post => "A step after the action".into(),
        };
    }
    Termination { failures: Vec::new(), running: None, message: String::new(), ..said }
}

fn is_ours(container: &&ContainerStatus) -> bool {
    container.name == PRODUCT
}
