//! The actions of [`operation::ACTIONS`] that can run here, and why the others can't.

use api::operation::{ActionOffer, ParameterOffer};
use crd::Engine;
use operation::{Action, Parameter, action, is_playbook_file};

use crate::Playbooks;

/// Why an action without the engine `Kubeonkube` can't run in standalone mode.
const NEEDS_IMAGE: &str = "Part of the kubespray image, which only a Kubernetes cluster can run. This server runs playbooks with its own ansible.";

/// The actions, and where their playbooks come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Catalogue {
    pub(crate) actions: &'static [Action],
    pub(crate) playbooks: Playbooks,
}

impl Catalogue {
    /// The actions for the form, available ones first.
    pub(crate) fn offers(&self) -> Vec<ActionOffer> {
        let mut offers: Vec<_> = self.actions.iter().map(|action| self.offer(action)).collect();
        offers.sort_by_key(|offer| offer.unavailable.is_some());
        offers
    }

    fn offer(&self, action: &Action) -> ActionOffer {
        ActionOffer {
            action: action.playbook.into(),
            title: action.title.into(),
            summary: action.summary.into(),
            effect: action.effect,
            parameters: action.parameters.iter().map(field).collect(),
            unavailable: (!self.has(action)).then(|| NEEDS_IMAGE.into()),
        }
    }

    /// Why a playbook outside the catalogue can't run here; `None` if it may be in the image.
    pub(crate) fn no_others(&self) -> Option<String> {
        (self.playbooks == Playbooks::Local)
            .then(|| "This server has only these playbooks. Run one of your own from a ConfigMap.".to_owned())
    }

    /// The playbooks that can run here.
    fn names(&self) -> Vec<&'static str> {
        self.actions.iter().filter(|action| self.has(action)).map(|action| action.playbook).collect()
    }

    fn has(&self, action: &Action) -> bool {
        self.playbooks == Playbooks::Image || action.engines.contains(&Engine::Kubeonkube)
    }

    /// The action with this playbook; `None` if it is not in the catalogue but may be in the image. The error is a sentence for
    /// the form.
    pub(crate) fn builtin(&self, playbook: &str) -> Result<Option<&'static Action>, String> {
        if !is_playbook_file(playbook) {
            return Err(
                "Name a playbook file, like “ping.yml”: letters, digits, “-”, “_”, “.” and “/”, ending in .yml or .yaml."
                    .into(),
            );
        }
        match action(self.actions, playbook) {
            Some(action) if self.has(action) => Ok(Some(action)),
            Some(_) => Err(NEEDS_IMAGE.into()),
            None if self.playbooks == Playbooks::Image => Ok(None),
            None => {
                let playbook: String = playbook.chars().take(60).collect();
                Err(format!("There is no builtin playbook “{playbook}”. Builtin here: {}.", self.names().join(", ")))
            }
        }
    }
}

fn field(parameter: &Parameter) -> ParameterOffer {
    ParameterOffer {
        field: parameter.field.into(),
        label: parameter.label.into(),
        placeholder: parameter.placeholder.into(),
        hint: parameter.hint.into(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use operation::ACTIONS;

    use super::*;

    pub(crate) const LOCAL: Catalogue = Catalogue { actions: ACTIONS, playbooks: Playbooks::Local };
    pub(crate) const IMAGE: Catalogue = Catalogue { actions: ACTIONS, playbooks: Playbooks::Image };

    #[test]
    fn standalone_offers_what_it_can_run_and_explains_the_rest() {
        let offers = LOCAL.offers();
        let available: Vec<_> = offers.iter().filter(|o| o.unavailable.is_none()).map(|o| o.action.as_str()).collect();
        let ours = [
            "ping.yml",
            "facts.yml",
            "precheck.yml",
            "cluster-info.yml",
            "kubeconfig.yml",
            "cluster.yml",
            "scale.yml",
            "join.yml",
            "upgrade-cluster.yml",
            "remove-node.yml",
            "etcd-backup.yml",
            "etcd-restore.yml",
            "renew-certs.yml",
            "reset.yml",
        ];
        assert_eq!(available, ours);
        assert!(LOCAL.builtin("recover-control-plane.yml").unwrap_err().contains("kubespray image"));
        assert_eq!(IMAGE.builtin("cluster.yml"), Ok(action(ACTIONS, "cluster.yml")));
        assert_eq!(IMAGE.builtin("playbooks/own.yml"), Ok(None));
        assert!(LOCAL.builtin("own.yml").unwrap_err().contains("ping.yml, facts.yml"));
        assert!(LOCAL.no_others().is_some_and(|why| why.contains("only these playbooks")));
        assert_eq!(IMAGE.no_others(), None);
    }

    #[test]
    fn a_text_that_is_not_a_playbook_path_is_refused() {
        for bad in ["", "ping", "../ping.yml", "-x.yml", ".yml", "$(x).yml"] {
            assert!(IMAGE.builtin(bad).is_err(), "{bad:?}");
        }
    }
}
