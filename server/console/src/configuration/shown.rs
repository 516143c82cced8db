//! A document as the Configuration tab shows it, with what is wrong with it.

use api::configuration::{Document, DocumentText};
use crd::Cluster;

use super::inputs::{Input, key};
use crate::ssh;

pub(super) fn shown(input: &Input, cluster: &Cluster) -> DocumentText {
    // A cluster without confirmed host keys is fine.
    let must_exist = input.exists() || input.document != Document::HostKeys;
    DocumentText {
        place: format!("{}, {}", input.at, key(input.document)),
        text: input.text().to_owned(),
        version: input.version(),
        problem: input.usable().and_then(|text| check(input.document, text)).err().filter(|_| must_exist),
        foreign: input.foreign(cluster),
    }
}

/// Whether a text can be used as this document. The error is a sentence.
pub(super) fn check(document: Document, text: &str) -> Result<(), String> {
    match document {
        Document::Inventory => inventory::parse(text).map(drop).map_err(|invalid| invalid.to_string()),
        Document::Variables => inventory::parse_vars(text).map(drop).map_err(|invalid| invalid.to_string()),
        Document::HostKeys => ssh::known_hosts(text).map(drop),
    }
}
