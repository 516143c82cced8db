//! Which groups, versions and resources there are.

use serde_json::{Value, json};

use super::answer::Reply;
use crate::kind::{Kind, Kinds, group_version};

/// The answer's Content-Type has to be this, or clients fall back to one request per group.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Reviews are not stored but are resources to clients: plural, kind, namespaced.
const REVIEWS: [(&str, &str, &str, bool); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", false),
    ("authentication.k8s.io", "tokenreviews", "TokenReview", false),
    ("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", true),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false),
    ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", false),
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
                    let reviews = reviews_of(group).map(|(_, plural, kind, namespaced)| {
                        json!({"resource": plural, "responseKind": {"group": group, "version": version, "kind": kind},
                            "scope": if namespaced { "Namespaced" } else { "Cluster" }, "singularResource": kind.to_lowercase(), "verbs": ["create"]})
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

fn reviews_of(group: &str) -> impl Iterator<Item = (&'static str, &'static str, &'static str, bool)> {
    REVIEWS.into_iter().filter(move |(of, ..)| *of == group)
}

/// `/api` or `/apis` in the old form.
pub(super) fn groups(kinds: &Kinds, core: bool) -> Value {
    if core {
        return json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []});
    }
    let groups = kinds.groups().into_iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Value> = groups.map(|(group, versions)| described(group, &versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/G`.
pub(super) fn group(kinds: &Kinds, wanted: &str) -> Option<Value> {
    let (group, versions) = kinds.groups().into_iter().find(|(group, _)| *group == wanted && !group.is_empty())?;
    let mut group = described(group, &versions);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Some(group)
}

fn described(group: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": group_version(group, version), "version": version}))
        .collect();
    json!({"name": group, "versions": versions, "preferredVersion": versions[0]})
}

/// `/api/v1` or `/apis/G/V`: resources, with each subresource as an entry of its own.
pub(super) fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    kinds.groups().into_iter().find(|(known, versions)| *known == group && versions.contains(&version))?;
    let mut resources = Vec::new();
    for kind in kinds.in_group_version(group, version) {
        resources.push(json!({"name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced,
            "kind": kind.kind, "verbs": kind.verbs(), "shortNames": kind.short_names, "categories": kind.categories}));
        for (name, verbs) in kind.subresources() {
            resources.push(
                json!({"name": format!("{}/{name}", kind.plural), "singularName": "", "namespaced": kind.namespaced,
                "kind": kind.kind, "verbs": verbs}),
            );
        }
    }
    for (_, plural, kind, namespaced) in reviews_of(group) {
        resources
            .push(json!({"name": plural, "singularName": kind.to_lowercase(), "namespaced": namespaced, "kind": kind,
            "verbs": ["create"]}));
    }
    let of = group_version(group, version);
    Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": of, "resources": resources}))
}
