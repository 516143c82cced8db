//! A document for the Configuration tab, with its error if it is invalid.

use api::configuration::{Document, DocumentText};
use crd::Cluster;

use super::inputs::{Input, key};
use crate::documents::{read_inventory, read_variables};
use crate::ssh;

/// `names` are the cluster's hosts and groups.
pub(super) fn shown(input: &Input, cluster: &Cluster, names: &[&str]) -> DocumentText {
    // Host keys are optional.
    let must_exist = input.exists() || input.document != Document::HostKeys;
    DocumentText {
        place: format!("{}, {}", input.at, key(input.document)),
        text: input.text().to_owned(),
        version: input.version(),
        problem: input.usable().and_then(|text| check(input.document, text)).err().filter(|_| must_exist),
        warnings: input.usable().map(|text| warnings(input.document, text)).unwrap_or_default(),
        hints: masking::hints(input.text(), names),
        foreign: input.foreign(cluster),
    }
}

/// Checks whether a text is valid for this document. The error is a sentence.
pub(super) fn check(document: Document, text: &str) -> Result<(), String> {
    match document {
        Document::Inventory => read_inventory(text).map(drop),
        Document::Variables => read_variables(text).map(drop),
        Document::HostKeys => ssh::known_hosts(text).map(drop),
    }
}

/// What ansible will never read, or what will make runs fail, in a document that is valid. Sentences.
pub(super) fn warnings(document: Document, text: &str) -> Vec<String> {
    match document {
        Document::Inventory => inventory::parse(text).map(|read| inventory::advice(&read)).unwrap_or_default(),
        Document::Variables => inventory::advice_on_vars(text),
        Document::HostKeys => Vec::new(),
    }
}
