//! The kinds that are served: the built-in ones and those of the installed CustomResourceDefinitions.

mod builtin;
mod custom;

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub(crate) use builtin::{BuiltIn, built_in};
pub use custom::CustomError;
pub(crate) use custom::{Custom, custom};

/// One kind in one group and version.
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Has `/status`: the main path then never changes status, and `/status` nothing else.
    pub(crate) status: bool,
    /// `metadata.generation` counts changes of the spec.
    pub(crate) generation: bool,
    /// `jobs.batch`, `configmaps`: in messages.
    pub(crate) resource: String,
    /// Where the objects are stored. The two Event kinds share one place.
    pub(crate) stored_as: Arc<str>,
    pub(crate) nature: Nature,
}

pub(crate) enum Nature {
    BuiltIn(BuiltIn),
    Custom(Box<Custom>),
}

impl Kind {
    /// `batch/v1`, `v1`.
    pub(crate) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    pub(crate) fn built_in(&self) -> Option<BuiltIn> {
        match &self.nature {
            Nature::BuiltIn(kind) => Some(*kind),
            Nature::Custom(_) => None,
        }
    }

    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.nature {
            Nature::BuiltIn(_) => None,
            Nature::Custom(custom) => Some(custom),
        }
    }

    pub(crate) fn is(&self, kind: BuiltIn) -> bool {
        self.built_in() == Some(kind)
    }

    /// What is installed with the program and only shown: the definitions of custom resources.
    pub(crate) fn read_only(&self) -> bool {
        self.is(BuiltIn::Definition)
    }

    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        if self.read_only() {
            &["get", "list", "watch"]
        } else {
            &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
        }
    }

    /// Names and verbs of what hangs under an object.
    pub(crate) fn subresources(&self) -> Vec<(&'static str, &'static [&'static str])> {
        let mut all: Vec<(&str, &[&str])> = Vec::new();
        if self.is(BuiltIn::Pod) {
            all.push(("log", &["get"]));
        }
        if self.status {
            all.push(("status", &["get", "patch", "update"]));
        }
        all
    }
}

pub(crate) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// All kinds, in the order of discovery.
pub(crate) struct Kinds {
    all: Vec<Arc<Kind>>,
    by_path: HashMap<(String, String, String), Arc<Kind>>,
    by_storage: HashMap<Arc<str>, Arc<Kind>>,
}

impl Kinds {
    pub(crate) fn new(definitions: &[CustomResourceDefinition]) -> Result<Self, CustomError> {
        let mut all: Vec<Arc<Kind>> = built_in().into_iter().map(Arc::new).collect();
        for definition in definitions {
            all.extend(custom(definition)?.into_iter().map(Arc::new));
        }
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

    /// The kind an ownerReference names, in any version.
    pub(crate) fn of_reference(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.all.iter().find(|known| known.kind == kind && known.group == group)
    }

    pub(crate) fn built_in(&self, wanted: BuiltIn) -> &Arc<Kind> {
        self.all.iter().find(|kind| kind.is(wanted)).expect("every built-in kind is in the table")
    }

    /// Groups with their versions, in order: "" first.
    pub(crate) fn groups(&self) -> Vec<(&str, Vec<&str>)> {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        let reviews = ["authentication.k8s.io", "authorization.k8s.io"].map(|group| (group, "v1"));
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
