//! What can be run, and why something can't.

use api::operation::ActionOffer;

use crate::Playbooks;

struct Known {
    action: &'static str,
    title: &'static str,
    summary: &'static str,
    changes: bool,
    /// Comes with this program, so that the local ansible can run it.
    local: bool,
}

const CATALOGUE: [Known; 8] = [
    Known {
        action: "ping.yml",
        title: "Reach every machine",
        summary: "Logs in to each machine and runs Python there. Changes nothing.",
        changes: false,
        local: true,
    },
    Known {
        action: "facts.yml",
        title: "Gather facts",
        summary: "Collects operating system, processor, memory, disks and addresses of each machine. Changes nothing.",
        changes: false,
        local: true,
    },
    Known {
        action: "cluster.yml",
        title: "Build or converge the cluster",
        summary: "Installs Kubernetes on all machines of the inventory, or brings an existing cluster to what the variables say.",
        changes: true,
        local: false,
    },
    Known {
        action: "scale.yml",
        title: "Add worker nodes",
        summary: "Installs the machines that are new in the inventory as workers. Limit it to them.",
        changes: true,
        local: false,
    },
    Known {
        action: "upgrade-cluster.yml",
        title: "Upgrade Kubernetes",
        summary: "Upgrades node by node, draining each. One minor version at a time.",
        changes: true,
        local: false,
    },
    Known {
        action: "remove-node.yml",
        title: "Remove nodes",
        summary: "Drains nodes and takes them out of the cluster.",
        changes: true,
        local: false,
    },
    Known {
        action: "recover-control-plane.yml",
        title: "Recover the control plane",
        summary: "Rebuilds broken control plane and etcd members from the healthy ones.",
        changes: true,
        local: false,
    },
    Known {
        action: "reset.yml",
        title: "Reset the cluster",
        summary: "Removes Kubernetes and all its data from the machines.",
        changes: true,
        local: false,
    },
];

/// The form's offers, those that can be chosen first.
pub(crate) fn offers(playbooks: Playbooks) -> Vec<ActionOffer> {
    let mut offers: Vec<_> = CATALOGUE
        .iter()
        .map(|known| ActionOffer {
            action: known.action.into(),
            title: known.title.into(),
            summary: known.summary.into(),
            changes: known.changes,
            unavailable: unavailable(known, playbooks),
        })
        .collect();
    offers.sort_by_key(|offer| offer.unavailable.is_some());
    offers
}

fn unavailable(known: &Known, playbooks: Playbooks) -> Option<String> {
    let missing = playbooks == Playbooks::Local && !known.local;
    missing.then(|| "Part of the kubespray image, which only a Kubernetes cluster can run. This server runs playbooks with its own ansible.".into())
}

/// Why the builtin playbook `action` can't be used, as a sentence; and whether it changes machines where that is known.
pub(crate) fn builtin(action: &str, playbooks: Playbooks) -> Result<Option<bool>, String> {
    if !operation::is_playbook_file(action) {
        return Err(
            "Name a playbook file, like “ping.yml”: letters, digits, “-”, “_”, “.” and “/”, ending in .yml or .yaml."
                .into(),
        );
    }
    match CATALOGUE.iter().find(|known| known.action == action) {
        Some(known) => unavailable(known, playbooks).map_or(Ok(Some(known.changes)), Err),
        // An image may bring any playbook; the run says which ones there are.
        None if playbooks == Playbooks::Image => Ok(None),
        None => {
            let names: Vec<_> = CATALOGUE.iter().filter(|k| k.local).map(|k| k.action).collect();
            Err(format!(
                "There is no builtin playbook “{}”. Builtin here: {}.",
                action.chars().take(60).collect::<String>(),
                names.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standalone_offers_what_it_can_run_and_says_why_not_the_rest() {
        let offers = offers(Playbooks::Local);
        let available: Vec<_> = offers.iter().filter(|o| o.unavailable.is_none()).map(|o| o.action.as_str()).collect();
        assert_eq!(available, ["ping.yml", "facts.yml"]);
        assert!(builtin("cluster.yml", Playbooks::Local).unwrap_err().contains("kubespray image"));
        assert_eq!(builtin("cluster.yml", Playbooks::Image), Ok(Some(true)));
        assert_eq!(builtin("playbooks/own.yml", Playbooks::Image), Ok(None));
        assert!(builtin("own.yml", Playbooks::Local).unwrap_err().contains("ping.yml, facts.yml"));
    }

    #[test]
    fn a_path_that_could_leave_its_folder_or_reach_a_shell_is_refused() {
        for bad in [
            "",
            "ping",
            "../ping.yml",
            "/ping.yml",
            "a;rm.yml",
            "a b.yml",
            "-x.yml",
            "a//b.yml",
            ".yml",
            "$(x).yml",
            "a\n.yml",
        ] {
            assert!(builtin(bad, Playbooks::Image).is_err(), "{bad:?}");
        }
    }
}
