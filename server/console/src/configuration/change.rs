//! Reviewing and saving a document.

use api::Problem;
use api::configuration::{ChangeReview, Document};
use crd::Cluster;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::inputs::{Input, key};
use super::shown::{check, warnings};
use super::version;
use crate::kube_problem::{Doing, problem, timely};
use crate::made::made;

/// Unchanged lines that a diff shows before and after each change.
const CONTEXT: usize = 3;
/// How often a save is tried if other programs change the object's labels at the same time.
const TRIES: usize = 5;

/// A change of one document.
#[derive(Clone, Copy)]
pub(super) struct Change<'c> {
    pub(super) cluster: &'c Cluster,
    pub(super) document: Document,
    /// The version that the text is based on.
    pub(super) version: &'c str,
    pub(super) text: &'c str,
}

impl Change<'_> {
    /// Shows what a save would change, without writing.
    pub(super) async fn review(self, client: Client) -> Result<ChangeReview, Problem> {
        let there = self.checked(client).await?;
        Ok(ChangeReview {
            summary: summary(self.document, there.text(), self.text),
            lines: inventory::diff::lines(there.text(), self.text, CONTEXT),
            warnings: warnings(self.document, self.text),
            version: there.version(),
        })
    }

    /// Writes the text unchanged, with comments and unknown keys, and returns its version.
    pub(super) async fn save(self, client: Client) -> Result<String, Problem> {
        let mut there = self.checked(client.clone()).await?;
        for _ in 0..TRIES {
            match timely(self.write(client.clone(), &there)).await {
                Ok(map) => return Ok(version::of(&map.metadata.resource_version.unwrap_or_default(), self.text)),
                // The object changed between the read and the write. `checked` returns a conflict if its text changed.
                Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 && there.exists() => {
                    there = self.checked(client.clone()).await?;
                }
                Err(error) => return Err(problem(&Doing::new("save", "ConfigMap", &there.at), &error)),
            }
        }
        Err(self.conflict(&there))
    }

    async fn write(self, client: Client, there: &Input) -> Result<ConfigMap, kube::Error> {
        let maps: Api<ConfigMap> = Api::namespaced(client, &there.at.namespace);
        let (name, key) = (&there.at.name, key(self.document));
        match there.resource_version() {
            Some(version) => {
                // A merge patch changes only the fields it names, so other keys and labels stay.
                let patch = json!({"metadata": {"resourceVersion": version}, "data": {key: self.text}, "binaryData": {key: null}});
                maps.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
            }
            None => {
                let data = Some([(key.to_owned(), self.text.to_owned())].into());
                let map = ConfigMap { metadata: made(self.cluster, name), data, ..ConfigMap::default() };
                maps.create(&PostParams::default(), &map).await
            }
        }
    }

    /// The current document, if this change may replace it. If the document already has this text, an earlier save probably wrote
    /// it and the response was lost, so the change may be repeated.
    async fn checked(self, client: Client) -> Result<Input, Problem> {
        check(self.document, self.text).map_err(|why| Problem::field("text", why))?;
        let there = Input::read(client, self.cluster, self.document).await?;
        let is_there = there.usable() == Ok(self.text);
        if is_there || there.is_at(self.version) { Ok(there) } else { Err(self.conflict(&there)) }
    }

    fn conflict(self, theirs: &Input) -> Problem {
        let what = match self.document {
            Document::Inventory => "The inventory",
            Document::Variables => "The variables file",
            Document::HostKeys => "The record of host keys",
        };
        Problem::Conflict {
            what: format!("{what} of {}", self.cluster.name_any()),
            theirs: theirs.text().into(),
            yours: self.text.into(),
            version: theirs.version(),
        }
    }
}

/// Sentences about what changes; empty if a text can't be parsed, or if only the formatting changes.
fn summary(document: Document, old: &str, new: &str) -> Vec<String> {
    match document {
        Document::Inventory => match (inventory::parse(old), inventory::parse(new)) {
            (Ok(old), Ok(new)) => inventory::diff::summary(&old, &new),
            _ => Vec::new(),
        },
        Document::Variables => match (inventory::parse_vars(old), inventory::parse_vars(new)) {
            (Ok(old), Ok(new)) => inventory::diff::summary_of_vars(&old, &new),
            _ => Vec::new(),
        },
        Document::HostKeys => Vec::new(),
    }
}
