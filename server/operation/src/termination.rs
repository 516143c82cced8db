//! The summary that the container of a run leaves when it ends.

use api::run::Termination;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};

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
