//! All kinds, found by path, by storage name or by owner reference.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::builtin::BuiltIn;
use super::builtin_table::built_in;
use super::custom::{CustomError, custom};
use super::descriptor::Kind;
use super::empty_table::empty;
use super::reviews::REVIEWS;

/// All kinds, in the order of discovery.
pub(crate) struct Kinds {
    all: Vec<Arc<Kind>>,
    by_path: HashMap<(String, String, String), Arc<Kind>>,
    by_storage: HashMap<Arc<str>, Arc<Kind>>,
}

impl Kinds {
    pub(crate) fn new(definitions: &[CustomResourceDefinition]) -> Result<Self, CustomError> {
        let mut all: Vec<Arc<Kind>> = built_in().into_iter().map(Arc::new).collect();
        let mut customs = Vec::new();
        for definition in definitions {
            customs.extend(custom(definition)?.into_iter().map(Arc::new));
        }
        // In discovery, and so in `kubectl get` of a category, the kinds of a group are in the order of their names.
        customs.sort_by(|one, other| one.resource.cmp(&other.resource));
        all.extend(customs);
        all.extend(empty().into_iter().map(Arc::new));
        let (mut by_path, mut by_storage) = (HashMap::new(), HashMap::new());
        for kind in &all {
            by_path.insert((kind.group.clone(), kind.version.clone(), kind.plural.clone()), kind.clone());
            by_storage.entry(kind.stored_as.clone()).or_insert_with(|| kind.clone());
        }
        Ok(Self { all, by_path, by_storage })
    }

    pub(crate) fn all(&self) -> &[Arc<Kind>] {
        &self.all
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.by_path.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    pub(crate) fn stored_as(&self, resource: &str) -> Option<&Arc<Kind>> {
        self.by_storage.get(resource)
    }

    /// The kind of an owner reference, whatever version the reference has. A kind without objects counts as unknown: its owner
    /// was never here, so the collector must not take it for deleted.
    pub(crate) fn of_reference(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.all.iter().find(|known| known.kind == kind && known.group == group && !known.is_empty())
    }

    pub(crate) fn built_in(&self, wanted: BuiltIn) -> &Arc<Kind> {
        self.all.iter().find(|kind| kind.is(wanted)).expect("every built-in kind is in the table")
    }

    /// Groups with their versions, in the order of discovery: the core group (`""`) first, those of reviews last.
    pub(crate) fn groups(&self) -> Vec<(&str, Vec<&str>)> {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        let reviews = REVIEWS.iter().map(|review| (review.group, "v1"));
        let kinds = self.all.iter().map(|kind| (kind.group.as_str(), kind.version.as_str()));
        for (group, version) in kinds.chain(reviews) {
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, versions)) if versions.contains(&version) => {}
                Some((_, versions)) => versions.push(version),
                None => groups.push((group, vec![version])),
            }
        }
        groups
    }

    pub(crate) fn in_group_version(&self, group: &str, version: &str) -> impl Iterator<Item = &Arc<Kind>> {
        self.all.iter().filter(move |kind| kind.group == group && kind.version == version)
    }
}
