//! Reading and writing the objects of a control plane. An object of another owner is never changed.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::check::Plan;
use crate::stop::Stop;

/// A kind of object that a control plane consists of.
pub(crate) trait Child:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize
{
}

impl<K> Child for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize
{
}

/// Server-side apply takes back the fields that other clients changed.
pub(crate) fn params() -> PatchParams {
    PatchParams::apply(crd::PRODUCT).force()
}

/// Whether the Cluster owns an object.
pub(crate) fn is_ours<K: Resource>(object: &K, uid: &str) -> bool {
    object.owner_references().iter().any(|owner| owner.uid == uid)
}

/// Reads an object; `None` if it doesn't exist.
pub(crate) async fn read<K: Child>(client: &Client, plan: &Plan, name: &str) -> Result<Option<K>, Stop> {
    let namespace = &plan.spec.namespace;
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let failed = |error| Stop::of(namespace, &format!("read {} {namespace}/{name}", K::kind(&())), &error);
    let found = api.get_opt(name).await.map_err(failed)?;
    match found {
        Some(found) if !is_ours(&found, &plan.uid) => Err(Stop::refuse(
            "NameTaken",
            format!(
                "{} {namespace}/{name} exists and doesn't belong to this cluster. Delete it, or host the cluster in another namespace.",
                K::kind(&())
            ),
        )),
        Some(found) if found.meta().deletion_timestamp.is_some() => {
            Err(Stop::wait("Ending", format!("{} {namespace}/{name} is being deleted.", K::kind(&()))))
        }
        found => Ok(found),
    }
}

/// Writes an object if it is missing or different. Returns what exists then.
pub(crate) async fn ensure<K: Child>(client: &Client, plan: &Plan, wanted: &K) -> Result<K, Stop> {
    let name = wanted.name_any();
    if let Some(found) = read::<K>(client, plan, &name).await?
        && contains(&json(&found), &json(wanted))
    {
        return Ok(found);
    }
    let namespace = &plan.spec.namespace;
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let failed = |error| Stop::of(namespace, &format!("apply {} {namespace}/{name}", K::kind(&())), &error);
    api.patch(&name, &params(), &Patch::Apply(wanted)).await.map_err(failed)
}

fn json<K: Serialize>(object: &K) -> Value {
    serde_json::to_value(object).expect("an object is plain data")
}

/// Whether `found` has everything that `wanted` has. What an API server adds doesn't count.
pub(crate) fn contains(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| contains(found, wanted)))
        }
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| contains(found, wanted))
        }
        _ => found == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_wanted_is_compared() {
        let wanted = json!({"spec": {"replicas": 1, "ports": [{"port": 6443}]}});
        assert!(contains(
            &json!({"spec": {"replicas": 1, "ports": [{"port": 6443, "protocol": "TCP"}], "a": 1}}),
            &wanted
        ));
        assert!(!contains(&json!({"spec": {"replicas": 2, "ports": [{"port": 6443}]}}), &wanted));
        assert!(!contains(&json!({"spec": {"replicas": 1, "ports": [{"port": 6443}, {"port": 80}]}}), &wanted));
        assert!(!contains(&json!({}), &wanted));
    }
}
