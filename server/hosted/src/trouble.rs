//! Why pods aren't ready, in the words of Kubernetes.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::ListParams;
use kube::{Api, Client};

use crate::check::Plan;
use crate::objects::APP;

/// The most telling reason of the pods of `app`; `None` if they just start.
pub(crate) async fn of(client: &Client, plan: &Plan, app: &str) -> Option<String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &plan.spec.namespace);
    let ours = ListParams::default().labels(&format!("{APP}={app},{}={}", crd::LABEL_CLUSTER, plan.cluster));
    // The condition is also true without the reason.
    let pods = pods.list(&ours).await.ok()?;
    pods.items.iter().find_map(of_pod)
}

fn of_pod(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let not_scheduled = || {
        let conditions = status.conditions.as_deref().unwrap_or_default();
        let found = conditions.iter().find(|c| c.type_ == "PodScheduled" && c.status == "False")?;
        found.message.clone()
    };
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let why = status.container_statuses.iter().flatten().find_map(of_container).or_else(not_scheduled)?;
    Some(format!("Pod {name}: {why}"))
}

fn of_container(container: &ContainerStatus) -> Option<String> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason =
        waiting.reason.as_deref().filter(|reason| !["ContainerCreating", "PodInitializing"].contains(reason))?;
    let ended = container.last_state.as_ref().and_then(|state| state.terminated.as_ref());
    let ended = ended.map(|ended| format!(" (exit code {})", ended.exit_code)).unwrap_or_default();
    Some(format!("{reason}{ended}: {}", waiting.message.as_deref().unwrap_or_default().trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reason(status: &serde_json::Value) -> Option<String> {
        of_pod(&serde_json::from_value(json!({"metadata": {"name": "etcd-0"}, "status": status})).unwrap())
    }

    #[test]
    fn the_kubelets_and_the_schedulers_words_are_shown() {
        let waiting = |reason: &str| {
            let state = json!({"waiting": {"reason": reason, "message": "no such image."}});
            json!({"containerStatuses": [{"name": "a", "image": "a", "imageID": "", "ready": false, "restartCount": 0, "state": state}]})
        };
        assert_eq!(reason(&waiting("ImagePullBackOff")).unwrap(), "Pod etcd-0: ImagePullBackOff: no such image");
        assert_eq!(reason(&waiting("ContainerCreating")), None);
        let unscheduled =
            json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes fit"}]});
        assert_eq!(reason(&unscheduled).unwrap(), "Pod etcd-0: 0/2 nodes fit");
    }
}
