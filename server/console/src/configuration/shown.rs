//! The Configuration tab.

use api::{
    Problem,
    configuration::{Configuration, Document, DocumentText},
};
use crd::Cluster;
use kube::Client;

use super::{
    inputs::{Input, Inputs, key},
    ssh_access,
};
use crate::{moment, ssh};

/// Both documents and the SSH access as they stand, each with what is wrong with it.
pub(super) async fn configuration(client: Client, cluster: &Cluster) -> Result<Configuration, Problem> {
    let (inputs, ssh) = futures::join!(Inputs::read(client.clone(), cluster), ssh_access::read(client, cluster));
    let inputs = inputs?;
    Ok(Configuration {
        inventory: shown(&inputs.hosts, cluster),
        variables: shown(&inputs.vars, cluster),
        ssh: ssh?,
        now: moment::now(),
    })
}

pub(super) fn shown(input: &Input, cluster: &Cluster) -> DocumentText {
    // Host keys need not be there.
    let is_missed = input.exists() || input.document != Document::HostKeys;
    DocumentText {
        place: format!("{}, {}", input.at, key(input.document)),
        text: input.text().to_owned(),
        version: input.version(),
        problem: input.usable().and_then(|text| check(input.document, text)).err().filter(|_| is_missed),
        foreign: input.foreign(cluster),
    }
}

/// What is wrong with a text as this document.
pub(super) fn check(document: Document, text: &str) -> Result<(), String> {
    match document {
        Document::Inventory => inventory::parse(text).map(drop).map_err(|invalid| invalid.to_string()),
        Document::Variables => inventory::parse_vars(text).map(drop).map_err(|invalid| invalid.to_string()),
        Document::HostKeys => ssh::known_hosts(text).map(drop),
    }
}
