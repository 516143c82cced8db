//! The objects a Cluster refers to: do they exist, whose are they, and what the condition InputsReady says about it.

use std::time::Duration;

use crd::{Cluster, Condition, DataRef, Fact, condition, upsert};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::Patch;
use kube::runtime::controller::Action;
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::{Context, field_manager, now};
use crate::error::{Answer, Error};
use crate::inputs::{self, Found, ReadError, Wanted};
use crate::validate;

/// A missing Secret is looked for this often; ConfigMaps are watched, Secrets are not: that would need the right to read all.
const SECRET_AGAIN: Duration = Duration::from_secs(60);

/// Looks when the Cluster is new or changed, a ConfigMap was touched, or something was missing; otherwise asks nothing.
pub(crate) async fn look_after(ctx: &Context, cluster: &Cluster) -> Result<Action, Error> {
    let name = cluster.name_any();
    let touched = ctx.was_touched(&name);
    let seen = cluster.status.as_ref().filter(|status| status.observed_generation == cluster.metadata.generation);
    let ready = seen.is_some_and(|status| crd::is_true(&status.cluster_conditions, condition::INPUTS_READY));
    if ready && !touched {
        return Ok(Action::await_change());
    }
    let wanted = inputs::references(cluster);
    let (fact, found) = match inputs::read(ctx, &wanted).await {
        Ok(found) => (fact(cluster, &found), Some(found)),
        Err(ReadError::Refused(refusal)) => {
            (Fact::new(condition::INPUTS_READY, false, refusal.reason(), refusal.to_string()), None)
        }
        Err(ReadError::Api(source)) => return Err(Error::Api { what: "read the inputs of a Cluster", source }),
    };
    let ready = fact.holds == Some(true);
    if let Some(found) = &found {
        mark(ctx, cluster, &wanted, found).await?;
    }
    write(ctx, cluster, fact).await?;
    let awaits_secret = cluster.spec.ssh_auth_ref.is_some() && !ready;
    Ok(if awaits_secret { Action::requeue(SECRET_AGAIN) } else { Action::await_change() })
}

fn fact(cluster: &Cluster, found: &Found) -> Fact {
    let readable = || {
        validate::cluster_namespace(cluster)?;
        validate::inputs_exist(cluster, found)?;
        validate::inputs_read(cluster, found).map(|(inventory, _)| inventory.hosts.len())
    };
    match readable() {
        Ok(hosts) => Fact::new(
            condition::INPUTS_READY,
            true,
            "Ready",
            format!("The inventory names {hosts} {}.", if hosts == 1 { "host" } else { "hosts" }),
        ),
        Err(refusal) => Fact::new(condition::INPUTS_READY, false, refusal.reason(), refusal.to_string()),
    }
}

async fn write(ctx: &Context, cluster: &Cluster, fact: Fact) -> Result<(), Error> {
    let old = cluster.status.clone().unwrap_or_default();
    let mut conditions: Vec<Condition> = old.cluster_conditions.clone();
    upsert(&mut conditions, fact, &now(), cluster.metadata.generation);
    if conditions == old.cluster_conditions && old.observed_generation == cluster.metadata.generation {
        return Ok(());
    }
    let status = json!({"clusterConditions": conditions, "observedGeneration": cluster.metadata.generation});
    let version = cluster.metadata.resource_version.as_deref();
    match ctx.patch_status(&ctx.clusters(), &cluster.name_any(), version, status).await? {
        Some(_) => Ok(()),
        // Whoever wrote first brings the next look; what was touched is still to be said.
        None => {
            ctx.touch(&cluster.name_any());
            Err(Error::Conflict(cluster.name_any()))
        }
    }
}

/// Labels what the Cluster uses, and takes or gives back ownership where `adoptInputs` says so.
async fn mark(ctx: &Context, cluster: &Cluster, wanted: &Wanted, found: &Found) -> Result<(), Error> {
    for (at, map) in &found.config_maps {
        mark_one::<ConfigMap>(ctx, cluster, at, &map.metadata).await?;
    }
    if let (Some(at), Some(secret)) = (&wanted.ssh, &found.ssh) {
        mark_one::<Secret>(ctx, cluster, at, &secret.metadata).await?;
    }
    Ok(())
}

async fn mark_one<K>(ctx: &Context, cluster: &Cluster, at: &DataRef, metadata: &ObjectMeta) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
{
    let Some(patch) = marks(cluster, metadata) else { return Ok(()) };
    let api: Api<K> = Api::namespaced(ctx.client.clone(), &at.namespace);
    match api.patch(&at.name, &field_manager(), &Patch::Merge(&patch)).await {
        // An immutable object or a missing right is no reason to hold back the Cluster.
        Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_invalid() => {
            tracing::warn!(cluster = cluster.name_any(), object = %at, why = status.message, "a used object could not be marked");
            Ok(())
        }
        answer => {
            answer.unless_changed().map_err(Error::while_doing("mark a used object"))?;
            Ok(())
        }
    }
}

/// What has to change on an object that `cluster` uses; None when all is as it should be.
fn marks(cluster: &Cluster, metadata: &ObjectMeta) -> Option<Value> {
    let name = cluster.name_any();
    let mut patch = json!({});
    // One label holds one name: the first Cluster that uses an object keeps it.
    let marked = metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(crd::LABEL_USED_BY));
    if !marked && validate::is_label_value(&name) {
        patch["labels"] = json!({crd::LABEL_USED_BY: name});
    }
    let owners: &[OwnerReference] = metadata.owner_references.as_deref().unwrap_or_default();
    let uid = cluster.metadata.uid.clone().unwrap_or_default();
    let owned = owners.iter().any(|owner| owner.uid == uid);
    match cluster.spec.adopt_inputs {
        Some(true) if !owned => {
            let owner = OwnerReference {
                api_version: Cluster::api_version(&()).into(),
                kind: Cluster::kind(&()).into(),
                name,
                uid,
                controller: None,
                block_owner_deletion: None,
            };
            patch["ownerReferences"] = json!(owners.iter().chain([&owner]).collect::<Vec<_>>());
        }
        Some(false) if owned => {
            patch["ownerReferences"] = json!(owners.iter().filter(|owner| owner.uid != uid).collect::<Vec<_>>());
        }
        _ => {}
    }
    if patch.as_object().is_some_and(serde_json::Map::is_empty) {
        return None;
    }
    // A merge patch replaces the whole list of owners.
    patch["resourceVersion"] = json!(metadata.resource_version);
    Some(json!({"metadata": patch}))
}

/// The Clusters that refer to this ConfigMap.
pub(crate) fn users<'a>(namespace: &str, name: &str, clusters: impl Iterator<Item = &'a Cluster>) -> Vec<String> {
    let at = DataRef::new(namespace, name);
    clusters
        .filter(|cluster| {
            let wanted = inputs::references(cluster);
            wanted.config_maps.contains_key(&at) || wanted.known_hosts == at
        })
        .map(ResourceExt::name_any)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(adopt: Option<bool>) -> Cluster {
        let mut cluster = Cluster::default();
        cluster.metadata.name = Some("prod".into());
        cluster.metadata.uid = Some("u1".into());
        cluster.spec.adopt_inputs = adopt;
        cluster
    }

    #[test]
    fn k22_a_users_object_is_labelled_and_not_owned_unless_adopted() {
        let patch = marks(&cluster(None), &ObjectMeta::default()).unwrap();
        assert_eq!(patch["metadata"]["labels"][crd::LABEL_USED_BY], "prod");
        assert_eq!(patch["metadata"].get("ownerReferences"), None);
        let patch = marks(&cluster(Some(true)), &ObjectMeta::default()).unwrap();
        assert_eq!(patch["metadata"]["ownerReferences"][0]["uid"], "u1");
    }

    #[test]
    fn what_is_marked_is_left_alone_and_ownership_is_given_back_on_request() {
        let labels = Some([(crd::LABEL_USED_BY.to_owned(), "other".to_owned())].into());
        let owner = OwnerReference { uid: "u1".into(), ..OwnerReference::default() };
        let owned = ObjectMeta { labels, owner_references: Some(vec![owner]), ..ObjectMeta::default() };
        assert_eq!(marks(&cluster(None), &owned), None, "the console's own inputs stay owned");
        assert_eq!(marks(&cluster(Some(true)), &owned), None);
        let patch = marks(&cluster(Some(false)), &owned).unwrap();
        assert_eq!(patch["metadata"]["ownerReferences"], json!([]));
    }
}
