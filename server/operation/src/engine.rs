//! Which engine's playbooks an image contains, and whether they fit a cluster.

use std::path::Path;

use api::operation::Effect;
use crd::{ActionSource, ActionType, ClusterOperationSpec, Engine};

use crate::actions::{ACTIONS, action};
use crate::steps::{Asked, asked};

/// Image names with one of these parts contain kubespray: its own image, kubean's, and images built from them.
const KUBESPRAY_IMAGES: [&str; 3] = ["kubespray", "spray-job", "kubean"];

/// The engine that the name of an image tells; `None` if it tells none.
fn of_image(image: &str) -> Option<Engine> {
    let is_kubespray = |text: &str| KUBESPRAY_IMAGES.iter().any(|part| text.contains(part));
    // The folder of a registry may have the name of one project and contain images of the other.
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains(crd::PRODUCT) && !is_kubespray(name) {
        return Some(Engine::Kubeonkube);
    }
    is_kubespray(image).then_some(Engine::Kubespray)
}

/// The engine of a run: the one that the Cluster declares, otherwise a guess from the image's name.
pub fn engine(declared: Option<Engine>, image: &str) -> Engine {
    declared.or_else(|| of_image(image)).unwrap_or(Engine::Kubeonkube)
}

/// The engine whose playbooks there are, if it is another one than the Cluster declares. `image` is `None` for the playbooks of this
/// program. An image whose name tells no engine fits.
pub fn other_engine(declared: Option<Engine>, image: Option<&str>) -> Option<Engine> {
    let declared = declared?;
    image.map_or(Some(Engine::Kubeonkube), of_image).filter(|there| *there != declared)
}

/// Whether an operation needs the playbooks of the cluster's own engine. Playbooks that only read and that both engines have don't; nor
/// do playbooks from ConfigMaps, and scripts.
pub fn needs_own_engine(operation: &ClusterOperationSpec) -> bool {
    asked(operation, None)
        .iter()
        .any(|step| step.kind == ActionType::Playbook && step.source == ActionSource::Builtin && !fits_all(step))
}

fn fits_all(step: &Asked<'_>) -> bool {
    let file = Path::new(step.action).file_name().and_then(|file| file.to_str()).unwrap_or_default();
    action(ACTIONS, file).is_some_and(|action| {
        let is_of = |engine| action.engines.contains(&engine);
        action.effect == Effect::Reads && is_of(Engine::Kubeonkube) && is_of(Engine::Kubespray)
    })
}

#[cfg(test)]
mod tests {
    use crd::HookAction;

    use super::*;

    const KUBESPRAY: &str = "quay.io/kubespray/kubespray:v2.28.1";
    const OURS: &str = "ghcr.io/clay-wangzhi/kubeonkube-runner:v0.1.0";

    #[test]
    fn the_cluster_decides_the_engine_then_the_image_name() {
        assert_eq!(engine(Some(Engine::Kubeonkube), KUBESPRAY), Engine::Kubeonkube);
        assert_eq!(engine(Some(Engine::Kubespray), OURS), Engine::Kubespray);
        assert_eq!(engine(None, KUBESPRAY), Engine::Kubespray);
        assert_eq!(engine(None, "ghcr.io/kubean-io/spray-job:v0.37.0"), Engine::Kubespray);
        assert_eq!(engine(None, OURS), Engine::Kubeonkube);
    }

    #[test]
    fn an_image_of_another_engine_does_not_fit() {
        let (kubespray, ours) = (Some(Engine::Kubespray), Some(Engine::Kubeonkube));
        assert_eq!(other_engine(kubespray, Some(OURS)), ours);
        assert_eq!(other_engine(ours, Some(KUBESPRAY)), kubespray);
        assert_eq!(other_engine(kubespray, None), ours, "this program");
        for (declared, image) in [
            (kubespray, Some(KUBESPRAY)),
            (kubespray, Some("registry.example.com/kubeonkube/spray:v2.28.1")),
            (ours, Some(OURS)),
            (ours, Some("registry.example.com/kubespray/kubeonkube-runner:1")),
            (kubespray, Some("registry.example.com/kubespray-for-kubeonkube:1")),
            (ours, Some("registry.example.com/runner:1")),
            (ours, None),
            (None, Some(OURS)),
            (None, None),
        ] {
            assert_eq!(other_engine(declared, image), None, "{declared:?} {image:?}");
        }
    }

    #[test]
    fn only_reading_and_own_playbooks_need_no_own_engine() {
        let of = |action: &str| ClusterOperationSpec { action: action.into(), ..ClusterOperationSpec::default() };
        for action in ["ping.yml", "facts.yml", "playbooks/facts.yml"] {
            assert!(!needs_own_engine(&of(action)), "{action}");
        }
        for action in
            ACTIONS.iter().map(|action| action.playbook).filter(|name| !["ping.yml", "facts.yml"].contains(name))
        {
            assert!(needs_own_engine(&of(action)), "{action}");
        }
        assert!(needs_own_engine(&of("playbooks/upgrade_cluster.yml")), "of the image, and not in the catalogue");
        let own = ClusterOperationSpec { action_source: ActionSource::Configmap, ..of("cluster.yml") };
        assert!(!needs_own_engine(&own));
        assert!(!needs_own_engine(&ClusterOperationSpec { action_type: ActionType::Shell, ..of("reset.yml") }));
        let hook = HookAction { action: "reset.yml".into(), ..HookAction::default() };
        assert!(needs_own_engine(&ClusterOperationSpec { post_hook: vec![hook], ..own }));
    }
}
