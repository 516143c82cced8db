//! Changes of a cluster's nodes: edits the inventory and submits the operation that goes with it.

mod add;
mod asked;
mod evictions;
mod joining;
mod remove;
mod replace;
mod requests;

use api::Problem;
use api::configuration::Document;
use crd::Cluster;
use inventory::Inventory;

use crate::configuration::Inputs;
use crate::documents::read_inventory;

pub(crate) fn unusable(document: Document, why: &str) -> Problem {
    refused(format!("The {} can't be used. {why} {}", document.words(), document.correct_it()))
}

/// The playbook that removes nodes needs a control plane machine.
pub(crate) fn refuse_hosted(cluster: &Cluster, node: &str) -> Result<(), Problem> {
    if cluster.spec.hosted.is_none() {
        return Ok(());
    }
    Err(refused(format!(
        "This page can't remove nodes of hosted clusters yet. Drain and delete {node} with the kubeconfig of the cluster (kubectl drain, kubectl delete node), run {} limited to it, and remove it from the inventory.",
        operation::RESET
    )))
}

pub(crate) fn refused(message: String) -> Problem {
    Problem::Invalid { message, fields: Vec::new() }
}

/// The answer if a document was changed after the review. A form can't show both texts.
pub(crate) fn stale(problem: Problem) -> Problem {
    match problem {
        Problem::Conflict { what, .. } => {
            refused(format!("{what} was changed since this was reviewed. Review it again."))
        }
        other => other,
    }
}

/// The problem of the last step. `message` also says what the steps before it have done.
pub(crate) fn half_done(problem: &Problem, message: String) -> Problem {
    match problem {
        Problem::Forbidden { .. } => Problem::Forbidden { message },
        Problem::Invalid { .. } => refused(message),
        _ => Problem::Unavailable { message },
    }
}

/// The inventory: its text, and what is in it.
pub(crate) fn inventory_of(inputs: &Inputs) -> Result<(&str, Inventory), Problem> {
    let text = inputs.hosts.usable().map_err(|why| unusable(Document::Inventory, &why))?;
    let parsed = read_inventory(text).map_err(|why| unusable(Document::Inventory, &why))?;
    Ok((text, parsed))
}
