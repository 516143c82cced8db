//! Discovery: the groups, versions and resources that are served, in both forms. Aggregated discovery is one document of all groups
//! except the core group, and one of the core group. The older form, which Python's dynamic client reads, has a document for each
//! list of versions and each list of resources.

use serde_json::{Value, json};

use super::answer::Reply;
use crate::kind::{Kinds, REVIEWS, group_version};

/// The Content-Type of the answer. With any other, clients ask for each group separately.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The part of the table of kinds and of the reviews that discovery shows.
struct Resource<'a> {
    plural: &'a str,
    singular: String,
    kind: &'a str,
    namespaced: bool,
    verbs: &'static [&'static str],
    short_names: &'a [String],
    categories: &'a [String],
    subresources: Vec<(&'static str, &'static [&'static str])>,
}

fn resources<'a>(kinds: &'a Kinds, group: &'a str, version: &'a str) -> Vec<Resource<'a>> {
    let own = kinds.in_group_version(group, version).map(|kind| Resource {
        plural: &kind.plural,
        singular: kind.singular.clone(),
        kind: &kind.kind,
        namespaced: kind.namespaced,
        verbs: kind.verbs(),
        short_names: &kind.short_names,
        categories: &kind.categories,
        subresources: kind.subresources(),
    });
    let reviews = REVIEWS.iter().filter(|review| review.group == group).map(|review| Resource {
        plural: review.plural,
        singular: review.kind.to_lowercase(),
        kind: review.kind,
        namespaced: false,
        verbs: &["create"],
        short_names: &[],
        categories: &[],
        subresources: Vec::new(),
    });
    own.chain(reviews).collect()
}

/// Aggregated discovery of `/api` (`core`) or `/apis`.
pub(super) fn aggregated(kinds: &Kinds, core: bool) -> Reply {
    let groups = kinds.groups().into_iter().filter(|(group, _)| group.is_empty() == core);
    let items: Vec<Value> = groups
        .map(|(group, versions)| {
            let version = |version: &&str| {
                let resources = resources(kinds, group, version);
                let resources: Vec<Value> =
                    resources.iter().map(|found| in_aggregated(found, group, version)).collect();
                json!({"version": version, "resources": resources, "freshness": "Current"})
            };
            let metadata = if group.is_empty() { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions.iter().map(version).collect::<Vec<_>>()})
        })
        .collect();
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items});
    Reply::ok(&list).with_content_type(AGGREGATED)
}

fn in_aggregated(resource: &Resource<'_>, group: &str, version: &str) -> Value {
    let response = json!({"group": group, "version": version, "kind": resource.kind});
    let subresources = resource.subresources.iter();
    let subresources: Vec<Value> = subresources
        .map(|(name, verbs)| json!({"subresource": name, "responseKind": response, "verbs": verbs}))
        .collect();
    json!({"resource": resource.plural, "responseKind": response,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" }, "singularResource": resource.singular,
        "verbs": resource.verbs, "shortNames": resource.short_names, "categories": resource.categories,
        "subresources": subresources})
}

/// The older form of `/api`. The API doesn't know under which addresses clients reach it, so it names none.
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// The older form of `/apis`.
pub(super) fn groups(kinds: &Kinds) -> Value {
    let groups = kinds.groups().into_iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Value> = groups.map(|(group, versions)| group_of(group, &versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
pub(super) fn group(kinds: &Kinds, wanted: &str) -> Option<Value> {
    let (_, versions) = kinds.groups().into_iter().find(|(group, _)| *group == wanted)?;
    let mut group = group_of(wanted, &versions);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Some(group)
}

fn group_of(group: &str, versions: &[&str]) -> Value {
    let version = |version: &&str| json!({"groupVersion": group_version(group, version), "version": version});
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({"name": group, "versions": versions, "preferredVersion": versions[0]})
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
pub(super) fn resource_list(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let resources: Vec<Value> = resources(kinds, group, version).iter().flat_map(in_list).collect();
    let mut list =
        json!({"kind": "APIResourceList", "groupVersion": group_version(group, version), "resources": resources});
    // The API server leaves the version out in the core group.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    (!resources.is_empty()).then_some(list)
}

/// A resource and its subresources, as the older form lists them.
fn in_list(resource: &Resource<'_>) -> Vec<Value> {
    let entry = |name: &str, singular: &str, verbs: &[&str]| json!({"name": name, "singularName": singular, "namespaced": resource.namespaced, "kind": resource.kind, "verbs": verbs});
    let mut own = entry(resource.plural, &resource.singular, resource.verbs);
    for (field, names) in [("shortNames", resource.short_names), ("categories", resource.categories)] {
        if !names.is_empty() {
            own[field] = json!(names);
        }
    }
    let below = |(name, verbs): &(&str, &[&str])| entry(&format!("{}/{name}", resource.plural), "", verbs);
    std::iter::once(own).chain(resource.subresources.iter().map(below)).collect()
}
