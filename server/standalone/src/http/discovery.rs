//! Discovery: the groups, versions and resources that are served.

use serde_json::{Value, json};

use super::answer::Reply;
use crate::kind::{Kind, Kinds, REVIEWS};

/// The Content-Type of the answer. With any other, clients ask for each group separately.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The message for clients that don't accept aggregated discovery.
pub(super) const ONLY_AGGREGATED: &str = "discovery is answered in one document: accept application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Aggregated discovery of `/api` (`core`) or `/apis`: one document with all groups.
pub(super) fn aggregated(kinds: &Kinds, core: bool) -> Reply {
    let groups = kinds.groups().into_iter().filter(|(group, _)| group.is_empty() == core);
    let items: Vec<Value> = groups
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let own = kinds.in_group_version(group, version).map(|kind| aggregated_resource(kind));
                    let reviews = REVIEWS.iter().filter(|review| review.group == group).map(|review| {
                        json!({"resource": review.plural, "responseKind": {"group": group, "version": version, "kind": review.kind},
                            "scope": "Cluster", "singularResource": review.kind.to_lowercase(), "verbs": ["create"]})
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
