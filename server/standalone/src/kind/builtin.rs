//! The table of built-in kinds and their Rust types, which decide what fields exist and of which type they are.

use k8s_openapi::api::{batch, coordination, core, events, rbac};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as extensions;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Kind, Nature};

/// The built-in kinds, for the few places where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BuiltIn {
    Namespace,
    ConfigMap,
    Secret,
    Pod,
    ServiceAccount,
    /// `v1` Event: the form that is stored.
    Event,
    /// `events.k8s.io/v1` Event: the other view of the same objects.
    NewEvent,
    Job,
    Lease,
    Role,
    RoleBinding,
    Definition,
}

impl BuiltIn {
    /// The object as its Rust type knows it: unknown fields are gone, wrong types are an error.
    pub(crate) fn retype(self, object: Value) -> Result<Value, serde_json::Error> {
        match self {
            Self::Namespace => through::<core::v1::Namespace>(object),
            Self::ConfigMap => through::<core::v1::ConfigMap>(object),
            Self::Secret => through::<core::v1::Secret>(object),
            Self::Pod => through::<core::v1::Pod>(object),
            Self::ServiceAccount => through::<core::v1::ServiceAccount>(object),
            Self::Event => through::<core::v1::Event>(object),
            Self::NewEvent => through::<events::v1::Event>(object),
            Self::Job => through::<batch::v1::Job>(object),
            Self::Lease => through::<coordination::v1::Lease>(object),
            Self::Role => through::<rbac::v1::Role>(object),
            Self::RoleBinding => through::<rbac::v1::RoleBinding>(object),
            Self::Definition => through::<extensions::CustomResourceDefinition>(object),
        }
    }

    /// Adds the schema of the kind to `generator` and returns the name it has there.
    pub(crate) fn schema(self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        match self {
            Self::Namespace => generator.subschema_for::<core::v1::Namespace>(),
            Self::ConfigMap => generator.subschema_for::<core::v1::ConfigMap>(),
            Self::Secret => generator.subschema_for::<core::v1::Secret>(),
            Self::Pod => generator.subschema_for::<core::v1::Pod>(),
            Self::ServiceAccount => generator.subschema_for::<core::v1::ServiceAccount>(),
            Self::Event => generator.subschema_for::<core::v1::Event>(),
            Self::NewEvent => generator.subschema_for::<events::v1::Event>(),
            Self::Job => generator.subschema_for::<batch::v1::Job>(),
            Self::Lease => generator.subschema_for::<coordination::v1::Lease>(),
            Self::Role => generator.subschema_for::<rbac::v1::Role>(),
            Self::RoleBinding => generator.subschema_for::<rbac::v1::RoleBinding>(),
            Self::Definition => generator.subschema_for::<extensions::CustomResourceDefinition>(),
        }
    }
}

fn through<T: Serialize + DeserializeOwned>(object: Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(object)?)
}

/// All built-in kinds.
pub(crate) fn built_in() -> Vec<Kind> {
    const CORE: (&str, &str) = ("", "v1");
    const RBAC: (&str, &str) = ("rbac.authorization.k8s.io", "v1");
    vec![
        kind(BuiltIn::Namespace, CORE, "Namespace", "namespaces", &["ns"], &[]).cluster_scoped().with_status(),
        kind(BuiltIn::ConfigMap, CORE, "ConfigMap", "configmaps", &["cm"], &[]),
        kind(BuiltIn::Secret, CORE, "Secret", "secrets", &[], &[]),
        kind(BuiltIn::Pod, CORE, "Pod", "pods", &["po"], &["all"]).with_status().with_generation(),
        kind(BuiltIn::ServiceAccount, CORE, "ServiceAccount", "serviceaccounts", &["sa"], &[]),
        kind(BuiltIn::Event, CORE, "Event", "events", &["ev"], &[]),
        kind(BuiltIn::NewEvent, ("events.k8s.io", "v1"), "Event", "events", &["ev"], &[]),
        kind(BuiltIn::Job, ("batch", "v1"), "Job", "jobs", &[], &["all"]).with_status().with_generation(),
        kind(BuiltIn::Lease, ("coordination.k8s.io", "v1"), "Lease", "leases", &[], &[]),
        kind(BuiltIn::Role, RBAC, "Role", "roles", &[], &[]),
        kind(BuiltIn::RoleBinding, RBAC, "RoleBinding", "rolebindings", &[], &[]),
        kind(
            BuiltIn::Definition,
            ("apiextensions.k8s.io", "v1"),
            "CustomResourceDefinition",
            "customresourcedefinitions",
            &["crd", "crds"],
            &["api-extensions"],
        )
        .cluster_scoped(),
    ]
}

fn kind(
    nature: BuiltIn,
    (group, version): (&str, &str),
    name: &str,
    plural: &str,
    short_names: &[&str],
    categories: &[&str],
) -> Kind {
    let resource = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Kind {
        group: group.into(),
        version: version.into(),
        kind: name.into(),
        plural: plural.into(),
        singular: name.to_lowercase(),
        short_names: owned(short_names),
        categories: owned(categories),
        namespaced: true,
        status: false,
        generation: false,
        stored_as: if nature == BuiltIn::NewEvent { "events".into() } else { resource.as_str().into() },
        resource,
        nature: Nature::BuiltIn(nature),
    }
}

impl Kind {
    fn cluster_scoped(self) -> Self {
        Self { namespaced: false, ..self }
    }

    fn with_status(self) -> Self {
        Self { status: true, ..self }
    }

    fn with_generation(self) -> Self {
        Self { generation: true, ..self }
    }
}
