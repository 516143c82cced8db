//! Which engine's playbooks an image contains.

use crd::Engine;

/// Image names with one of these parts contain kubespray: its own image, kubean's, and images built from them.
const KUBESPRAY_IMAGES: [&str; 3] = ["kubespray", "spray-job", "kubean"];

/// The engine of a run: the one that the Cluster declares, otherwise a guess from the image's name.
pub fn engine(declared: Option<Engine>, image: &str) -> Engine {
    let is_kubespray = KUBESPRAY_IMAGES.iter().any(|part| image.contains(part));
    declared.unwrap_or(if is_kubespray { Engine::Kubespray } else { Engine::Kubeonkube })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_decides_the_engine_then_the_image_name() {
        let kubespray = "quay.io/kubespray/kubespray:v2.28.1";
        let ours = "ghcr.io/clay-wangzhi/kubeonkube-runner:v0.1.0";
        assert_eq!(engine(Some(Engine::Kubeonkube), kubespray), Engine::Kubeonkube);
        assert_eq!(engine(Some(Engine::Kubespray), ours), Engine::Kubespray);
        assert_eq!(engine(None, kubespray), Engine::Kubespray);
        assert_eq!(engine(None, "ghcr.io/kubean-io/spray-job:v0.37.0"), Engine::Kubespray);
        assert_eq!(engine(None, ours), Engine::Kubeonkube);
    }
}
