//! Kinds from CustomResourceDefinitions.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_cel::RootContext;
use serde_json::Value;

use super::descriptor::{Custom, Kind, Nature, group_version};
use crate::schema::Rules;

/// Why a definition can't be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CustomError {
    #[error("CustomResourceDefinition {0} has no stored version with a schema")]
    NoSchema(String),
    #[error("CustomResourceDefinition {0} can't be read: {1}")]
    Unreadable(String, String),
}

/// The served versions of a definition. Objects aren't converted, so more than one version works only if they share a
/// schema (`conversion: None`).
pub(super) fn custom(definition: &CustomResourceDefinition) -> Result<Vec<Kind>, CustomError> {
    let name = definition.metadata.name.clone().unwrap_or_default();
    let spec = &definition.spec;
    let (group, plural) = (&spec.group, &spec.names.plural);
    let served = spec.versions.iter().filter(|version| version.served);
    let kinds = served.map(|version| {
        let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref());
        let schema = schema.ok_or_else(|| CustomError::NoSchema(name.clone()))?;
        let json = |part: Result<Value, serde_json::Error>| {
            part.map_err(|error| CustomError::Unreadable(name.clone(), error.to_string()))
        };
        let schema = json(serde_json::to_value(schema))?;
        let columns = json(serde_json::to_value(&version.additional_printer_columns))?;
        let root = RootContext {
            api_version: group_version(group, &version.name),
            api_group: group.clone(),
            kind: spec.names.kind.clone(),
        };
        let rules = Rules::new(&schema, root).map_err(|error| CustomError::Unreadable(name.clone(), error))?;
        let selectable = version.selectable_fields.iter().flatten().map(|field| field.json_path.clone()).collect();
        let columns = columns.as_array().cloned().unwrap_or_default();
        Ok(Kind {
            group: group.clone(),
            version: version.name.clone(),
            kind: spec.names.kind.clone(),
            plural: plural.clone(),
            singular: spec.names.singular.clone().unwrap_or_else(|| spec.names.kind.to_lowercase()),
            short_names: spec.names.short_names.clone().unwrap_or_default(),
            categories: spec.names.categories.clone().unwrap_or_default(),
            namespaced: spec.scope == "Namespaced",
            status: version.subresources.as_ref().is_some_and(|sub| sub.status.is_some()),
            generation: true,
            resource: format!("{plural}.{group}"),
            stored_as: format!("{plural}.{group}").into(),
            nature: Nature::Custom(Box::new(Custom { schema, rules, columns, selectable })),
        })
    });
    kinds.collect()
}
