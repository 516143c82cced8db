//! The table of built-in kinds: group, names, scope and subresources.

use super::builtin::BuiltIn;
use super::descriptor::{Kind, Nature};

/// All built-in kinds, in the order of discovery.
pub(super) fn built_in() -> Vec<Kind> {
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
    kind: BuiltIn,
    group: (&str, &str),
    name: &str,
    plural: &str,
    short_names: &[&str],
    categories: &[&str],
) -> Kind {
    let named = names(Nature::BuiltIn(kind), group, name, plural, short_names, categories);
    if kind == BuiltIn::NewEvent { Kind { stored_as: "events".into(), ..named } } else { named }
}

/// A namespaced kind without subresources.
pub(super) fn names(
    nature: Nature,
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
        stored_as: resource.as_str().into(),
        resource,
        nature,
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
