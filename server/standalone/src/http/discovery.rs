//! Which groups, versions and resources there are.

use serde_json::{Value, json};

use super::answer::Reply;
use crate::kind::{Kind, Kinds};

/// The answer's Content-Type has to be this, or clients fall back to one request per group.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// What a client is told that doesn't know it.
pub(super) const ONLY_AGGREGATED: &str = "discovery is answered in one document: accept application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Reviews are not stored but are resources to clients: group, plural and kind.
const REVIEWS: [(&str, &str, &str); 4] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    ("authentication.k8s.io", "tokenreviews", "TokenReview"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
];

/// `/api` or `/apis` in one document.
pub(super) fn aggregated(kinds: &Kinds, core: bool) -> Reply {
    let groups = kinds.groups().into_iter().filter(|(group, _)| group.is_empty() == core);
    let items: Vec<Value> = groups
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let own = kinds.in_group_version(group, version).map(|kind| aggregated_resource(kind));
                    let reviews = REVIEWS.into_iter().filter(|(of, ..)| *of == group).map(|(_, plural, kind)| {
                        json!({"resource": plural, "responseKind": {"group": group, "version": version, "kind": kind},
                            "scope": "Cluster", "singularResource": kind.to_lowercase(), "verbs": ["create"]})
                    });
                    json!({"version": version, "resources": own.chain(reviews).collect::<Vec<_>>(), "freshness": "Current"})
                })
                .collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items});
    Reply::ok(&list).with_content_type(AGGREGATED)
}

fn aggregated_resource(kind: &Kind) -> Value {
    let response = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let subresources: Vec<Value> = kind
        .subresources()
        .into_iter()
        .map(|(name, verbs)| json!({"subresource": name, "responseKind": response, "verbs": verbs}))
        .collect();
    json!({"resource": kind.plural, "responseKind": response, "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular, "verbs": kind.verbs(), "shortNames": kind.short_names, "categories": kind.categories,
        "subresources": subresources})
}
