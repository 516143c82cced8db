//! What the server has to know about a kind.

use std::sync::Arc;

use serde_json::Value;

use super::builtin::BuiltIn;
use crate::schema::Rules;

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
    /// Whether it has a `/status` subresource. Then a write to the subresource changes only the status, and every other write leaves the
    /// status as it is.
    pub(crate) status: bool,
    /// Whether `metadata.generation` counts changes of the spec.
    pub(crate) generation: bool,
    /// The name in messages: `jobs.batch`, `configmaps`.
    pub(crate) resource: String,
    /// The resource under which the objects are stored. The two Event kinds share one.
    pub(crate) stored_as: Arc<str>,
    pub(crate) nature: Nature,
}

pub(crate) enum Nature {
    BuiltIn(BuiltIn),
    Custom(Box<Custom>),
    /// There are no objects of this kind, and none can be created. See `empty_table`.
    Empty,
}

/// The parts of a CustomResourceDefinition's version that only custom kinds have.
pub(crate) struct Custom {
    /// The structural schema of the whole object.
    pub(crate) schema: Value,
    pub(crate) rules: Rules,
    /// `additionalPrinterColumns`, unchanged.
    pub(crate) columns: Vec<Value>,
    /// JSON paths such as `.spec.cluster` that field selectors may use.
    pub(crate) selectable: Vec<String>,
}

impl Kind {
    /// `batch/v1`, `v1`.
    pub(crate) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    pub(crate) fn built_in(&self) -> Option<BuiltIn> {
        match &self.nature {
            Nature::BuiltIn(kind) => Some(*kind),
            Nature::Custom(_) | Nature::Empty => None,
        }
    }

    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.nature {
            Nature::BuiltIn(_) | Nature::Empty => None,
            Nature::Custom(custom) => Some(custom),
        }
    }

    pub(crate) fn is(&self, kind: BuiltIn) -> bool {
        self.built_in() == Some(kind)
    }

    /// CustomResourceDefinitions are installed with the program, so clients may only read them.
    pub(crate) fn read_only(&self) -> bool {
        self.is(BuiltIn::Definition)
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.nature, Nature::Empty)
    }

    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        if self.is_empty() {
            &["delete", "deletecollection", "get", "list", "watch"]
        } else if self.read_only() {
            &["get", "list", "watch"]
        } else {
            &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
        }
    }

    /// Names and verbs of the subresources, as discovery lists them.
    pub(crate) fn subresources(&self) -> Vec<(&'static str, &'static [&'static str])> {
        let mut all: Vec<(&str, &[&str])> = Vec::new();
        if self.is(BuiltIn::Pod) {
            all.push(("log", &["get"]));
        }
        if self.is(BuiltIn::Namespace) {
            all.push(("finalize", &["update"]));
        }
        if self.status {
            all.push(("status", &["get", "patch", "update"]));
        }
        all
    }

    /// The reason why a subresource of a real API server is not served.
    pub(crate) fn why_without(&self, subresource: &str) -> Option<&'static str> {
        match (self.built_in()?, subresource) {
            (BuiltIn::Pod, "attach" | "ephemeralcontainers" | "exec" | "portforward" | "proxy" | "resize") => {
                Some("pods of standalone mode are processes of this machine, not containers")
            }
            (BuiltIn::ServiceAccount, "token") => {
                Some("the only token of standalone mode is the one in the kubeconfig")
            }
            _ => None,
        }
    }
}

pub(crate) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
