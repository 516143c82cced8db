//! The engine of a cluster, and whether the playbooks that its operations get are of this engine.

use api::Problem;
use crd::{Cluster, Engine};
use kube::ResourceExt;
use operation::{FACTS, PING, needs_own_engine, other_engine};

use super::plan::Wanted;
use crate::nodes::refused;
use crate::{Console, Playbooks};

impl Console {
    /// The engine of a run with `image`. `declared` is the engine that the Cluster names.
    pub(crate) fn engine(&self, declared: Option<Engine>, image: &str) -> Engine {
        match self.shared.playbooks {
            Playbooks::Local => declared.unwrap_or(Engine::Kubeonkube),
            Playbooks::Image => operation::engine(declared, image),
        }
    }

    /// The engine of a cluster's operations that name no image.
    pub(crate) fn engine_of(&self, cluster: &Cluster) -> Engine {
        self.engine(cluster.spec.engine, &self.shared.image)
    }

    /// The engine that creates a cluster which names none.
    pub(crate) fn engine_of_new(&self) -> Engine {
        self.engine(None, &self.shared.image)
    }

    /// Why operations that name no image get the playbooks of another engine than the Cluster declares, as sentences; `None` if they don't.
    pub(crate) fn wrong_engine(&self, cluster: &Cluster) -> Option<String> {
        self.wrong_engine_in(cluster, &self.shared.image)
    }

    /// An error if operations that name no image get the playbooks of another engine. For forms that save something before they submit.
    pub(crate) fn refuse_wrong_engine(&self, cluster: &Cluster) -> Result<(), Problem> {
        self.wrong_engine(cluster).map_or(Ok(()), |why| Err(refused(why)))
    }

    /// An error if the operation needs the playbooks of the cluster's engine, and would get those of another one.
    pub(super) fn refuse_playbooks_of_another_engine(&self, cluster: &Cluster, wanted: &Wanted) -> Result<(), Problem> {
        let why = self.wrong_engine_in(cluster, &wanted.spec.image).filter(|_| needs_own_engine(&wanted.spec));
        why.map_or(Ok(()), |why| Err(refused(why)))
    }

    fn wrong_engine_in(&self, cluster: &Cluster, image: &str) -> Option<String> {
        let image = (self.shared.playbooks == Playbooks::Image).then_some(image);
        let declared = cluster.spec.engine?;
        let there = other_engine(Some(declared), image)?;
        Some(sentences(&cluster.name_any(), declared, there, image))
    }
}

/// `image` is `None` if the playbooks are those of this program.
fn sentences(cluster: &str, declared: Engine, there: Engine, image: Option<&str>) -> String {
    let (declared, there) = (declared.name(), there.name());
    let (where_from, instead) = match image {
        None => (
            "this program".to_owned(),
            "Manage it with a kubeonkube in a Kubernetes cluster, where operations run images".to_owned(),
        ),
        Some(image) => (
            format!("the image {image}"),
            format!("Name an image of {declared} in the operation, or start the server with one (--runner-image)"),
        ),
    };
    format!(
        "{cluster} has spec.engine: {declared}, but {where_from} has the playbooks of {there}, which can damage it. So the console runs only {PING}, {FACTS}, and your own playbooks and scripts on it. {instead}; if {cluster} isn't a cluster of {declared}, correct spec.engine."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_name_engine_image_and_a_way_out() {
        let (kubespray, ours) = (Engine::Kubespray, Engine::Kubeonkube);
        let of_image = sentences("prod", kubespray, ours, Some("example.com/kubeonkube-runner:1"));
        for part in [
            "prod has spec.engine: kubespray, but the image example.com/kubeonkube-runner:1 has the playbooks of kubeonkube",
            "the console runs only ping.yml, facts.yml, and your own",
            "Name an image of kubespray in the operation, or start the server with one (--runner-image)",
        ] {
            assert!(of_image.contains(part), "{of_image}");
        }
        let of_program = sentences("prod", kubespray, ours, None);
        assert!(of_program.contains("but this program has the playbooks of kubeonkube"), "{of_program}");
        assert!(of_program.contains("in a Kubernetes cluster"), "{of_program}");
    }
}
