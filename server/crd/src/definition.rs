//! The CustomResourceDefinitions, as objects and as files.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, ValidationRule,
};
use kube::CustomResourceExt;
use serde_json::json;

use crate::conditions::{UNSEEN, condition};
use crate::{Cluster, ClusterOperation};

/// Both definitions. Don't use `Cluster::crd()` and `ClusterOperation::crd()` instead: they lack the rules in CEL.
pub fn all() -> Vec<CustomResourceDefinition> {
    let mut operation = ClusterOperation::crd();
    for version in &mut operation.spec.versions {
        let schema = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut());
        let Some(fields) = schema.and_then(|s| s.properties.as_mut()) else { continue };
        if let Some(spec) = fields.get_mut("spec") {
            freeze(spec);
        }
        if let Some(status) = fields.get_mut("status") {
            status.default = Some(JSON(unseen()));
        }
    }
    let mut cluster = Cluster::crd();
    for version in &mut cluster.spec.versions {
        let schema = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut());
        if let Some(spec) = schema.and_then(|s| s.properties.as_mut()).and_then(|p| p.get_mut("spec")) {
            rule_hosted(spec);
        }
    }
    vec![cluster, operation]
}

/// Both definitions as one YAML text for `kubectl apply -f -`.
pub fn render() -> String {
    all().iter().map(document).collect()
}

/// One definition as a YAML document, the content of a file in `deploy/crd/`.
pub(crate) fn document(crd: &CustomResourceDefinition) -> String {
    let yaml = serde_saphyr::to_string(crd).expect("a definition is plain data");
    format!("---\n# Generated from server/crd. Don't edit: UPDATE_CRDS=1 cargo test -p kubeonkube-crd\n{yaml}")
}

/// Makes a spec immutable: an operation is a record of what was requested. Only `cancel` may become true. The rules are
/// derived from the schema, so that a field added later is immutable too.
fn freeze(spec: &mut JSONSchemaProps) {
    let required = spec.required.clone().unwrap_or_default();
    let rules = spec.properties.iter().flatten().map(|(field, schema)| {
        let always_set = required.contains(field) || schema.default.is_some();
        let rule = match field.as_str() {
            "cancel" => "!(has(oldSelf.cancel) && oldSelf.cancel == true) || (has(self.cancel) && self.cancel == true)"
                .to_owned(),
            _ if always_set => format!("self.{field} == oldSelf.{field}"),
            _ => format!(
                "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
            ),
        };
        let message = match field.as_str() {
            "cancel" => "a cancelled operation stays cancelled; submit a new one".to_owned(),
            _ => format!("{field} can't be changed after submission; submit a new operation"),
        };
        ValidationRule { rule, message: Some(message), ..Default::default() }
    });
    spec.x_kubernetes_validations = Some(rules.collect());
}

/// The status of an operation that no controller has seen, as the Gateway API has it. Helm looks at what it has created once, at once, and takes
/// an object without conditions for ready (ADR 26).
fn unseen() -> serde_json::Value {
    json!({"conditions": [{
        "type": condition::RECONCILING,
        "status": "True",
        "reason": UNSEEN,
        "message": "No controller has seen the operation yet.",
        "lastTransitionTime": "1970-01-01T00:00:00Z",
    }]})
}

/// What can be changed while a hosted control plane runs.
const CHANGEABLE: [&str; 4] = ["replicas", "imageRepository", "paused", "addons"];

/// The rules for hosted control planes. All fields but [`CHANGEABLE`] are immutable, also those that are added later.
fn rule_hosted(spec: &mut JSONSchemaProps) {
    let rule = |rule: &str, message: &str| ValidationRule {
        rule: rule.to_owned(),
        message: Some(message.to_owned()),
        ..ValidationRule::default()
    };
    spec.x_kubernetes_validations = Some(vec![
        rule(
            "has(self.hosted) || (has(self.hostsConfRef) && has(self.varsConfRef))",
            "hostsConfRef and varsConfRef are required; only a hosted cluster may lack them",
        ),
        rule(
            "has(self.hostsConfRef) == has(self.varsConfRef)",
            "hostsConfRef and varsConfRef belong together: set both or none",
        ),
        rule(
            "has(self.hosted) == has(oldSelf.hosted)",
            "hosted can't be added to a cluster or removed from it; create another cluster",
        ),
    ]);
    let Some(hosted) = spec.properties.as_mut().and_then(|fields| fields.get_mut("hosted")) else { return };
    let required = hosted.required.clone().unwrap_or_default();
    let frozen = hosted.properties.iter().flatten().filter(|(field, _)| !CHANGEABLE.contains(&field.as_str()));
    let mut rules: Vec<ValidationRule> = frozen
        .map(|(field, schema)| {
            assert!(
                required.contains(field) || schema.default.is_some(),
                "an optional field needs another rule: {field}"
            );
            // `namespace` is a reserved word of CEL: <https://kubernetes.io/docs/reference/using-api/cel/#escaping>
            let escaped = if field == "namespace" { "__namespace__" } else { field };
            rule(
                &format!("self.{escaped} == oldSelf.{escaped}"),
                &format!("{field} of a hosted cluster can't be changed yet"),
            )
        })
        .collect();
    rules.extend([
        rule("self.etcd.members == 1", "more than one member of etcd is not supported yet: set members to 1"),
        rule(
            "!has(self.etcd.ephemeral) || !self.etcd.ephemeral || !has(self.etcd.storageClass)",
            "ephemeral and storageClass exclude each other: without a volume there is no StorageClass",
        ),
        rule(
            "self.endpoint.type == 'NodePort' ? has(self.endpoint.host) : !has(self.endpoint.host) && !has(self.endpoint.port)",
            "endpoint.host is required for NodePort, and only there host and port can be set",
        ),
    ]);
    hosted.x_kubernetes_validations = Some(rules);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_files_in_deploy_crd_are_not_stale() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crd");
        for crd in all() {
            let file = folder.join(format!("{}.yaml", crd.spec.names.plural));
            let wanted = document(&crd);
            if std::env::var_os("UPDATE_CRDS").is_some() {
                std::fs::write(&file, &wanted).expect("deploy/crd is writable");
            }
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(found == wanted, "{} is stale: run UPDATE_CRDS=1 cargo test -p kubeonkube-crd", file.display());
        }
    }

    #[test]
    fn the_rendered_text_parses_to_the_same_definitions() {
        let back: Vec<CustomResourceDefinition> =
            render().split("---\n").skip(1).map(|text| serde_saphyr::from_str(text).expect("it is YAML")).collect();
        assert_eq!(back, all());
    }

    #[test]
    fn an_operation_that_no_controller_has_seen_is_not_ready() {
        let status: crate::ClusterOperationStatus = serde_json::from_value(unseen()).unwrap();
        assert!(crate::is_true(&status.conditions, condition::RECONCILING));
        assert_eq!(
            status,
            crate::ClusterOperationStatus { conditions: status.conditions.clone(), ..Default::default() }
        );
        let defaults = all().into_iter().map(|crd| {
            let schema = crd.spec.versions[0].schema.as_ref().unwrap().open_api_v3_schema.as_ref().unwrap();
            schema.properties.as_ref().unwrap()["status"].default.is_some()
        });
        assert_eq!(defaults.collect::<Vec<_>>(), [false, true], "kstatus doesn't read the conditions of a Cluster");
    }

    #[test]
    fn both_kinds_are_cluster_scoped_with_a_status_subresource() {
        for crd in all() {
            assert_eq!(crd.spec.scope, "Cluster");
            let version = &crd.spec.versions[0];
            assert!(version.subresources.as_ref().is_some_and(|s| s.status.is_some()));
            assert!(version.additional_printer_columns.as_ref().is_some_and(|columns| columns.len() >= 4));
        }
    }
}
