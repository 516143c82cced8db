//! The objects that a Cluster refers to: whether they exist (condition InputsReady), their `used-by` labels and owner references.

use std::time::Duration;

use crd::{Cluster, DataRef, Fact, condition};
use inventory::Inventory;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::Patch;
use kube::runtime::controller::Action;
use kube::{Api, Resource, ResourceExt};
use masking::Masker;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::read::{self, Found, ReadError, Wanted};
use crate::inputs::validate;
use crate::label;
use crate::request::{Answer, field_manager};
use crate::turn::cluster_status::{write_condition, write_standing};

/// How often the inputs of a Cluster with a valid Secret are read again. Secrets are not watched, because that needs the right to read all of
/// them.
const VALID_SECRET: Duration = Duration::from_secs(300);
/// The same for each Cluster, if there are many: about three requests in 30 s, so that idle Clusters cause 0.1 requests a second.
const VALID_SECRET_OF_MANY: Duration = Duration::from_secs(30);
/// How often a missing or invalid Secret is read again, at first and later.
const SECRET_SOON: Duration = Duration::from_secs(10);
const SECRET_LATER: Duration = Duration::from_secs(60);
/// How long a Secret has been missing or invalid when it is read less often.
const SOON: Duration = Duration::from_secs(300);

/// Checks the inputs if the Cluster is new or changed, one of its ConfigMaps changed, an operation met other inputs, or something was
/// missing or invalid; also once after the start, and now and then if it has a Secret. Otherwise makes no request.
pub(crate) async fn check(ctx: &Context, cluster: &Cluster) -> Result<Action, Error> {
    let name = cluster.name_any();
    let touched = ctx.was_touched(&name);
    let seen = cluster.status.as_ref().filter(|status| status.observed_generation == cluster.metadata.generation);
    let ready = seen.is_some_and(|status| crd::is_true(&status.cluster_conditions, condition::INPUTS_READY));
    let has_secret = cluster.spec.ssh_auth_ref.is_some() || cluster.spec.secret_vars_ref.is_some();
    let every = if has_secret { valid_secret_again(ctx.stores.clusters.len()) } else { Duration::MAX };
    let left = ctx.checks.age(&name).and_then(|age| every.checked_sub(age)).filter(|left| !left.is_zero());
    if let Some(left) = left.filter(|_| ready && !touched) {
        // A hosted control plane may have changed. Earlier versions wrote no condition Ready.
        return match write_standing(ctx, cluster).await? {
            true if has_secret => Ok(Action::requeue(left)),
            true => Ok(Action::await_change()),
            false => Err(Error::Conflict(name)),
        };
    }
    // If a request fails, the next reconcile must check the inputs again.
    let touch = |_: &Error| ctx.touch(&name);
    let wanted = read::references(cluster);
    let (fact, found) = match read::fetch(ctx, &wanted).await {
        Ok(found) => (fact(cluster, &found), Some(found)),
        Err(ReadError::Refused(refusal)) => {
            (Fact::new(condition::INPUTS_READY, false, refusal.reason(), refusal.to_string()), None)
        }
        Err(ReadError::Api(source)) => {
            return Err(Error::Api { what: "read the inputs of a Cluster", source }).inspect_err(touch);
        }
    };
    let ready = fact.holds == Some(true);
    // Only inputs that the Cluster can really use: with `adoptInputs` it owns them, so they are deleted with it. A user who may write
    // Clusters must not be able to delete other objects, or those of other namespaces, that way.
    if let Some(found) = found.as_ref().filter(|_| ready) {
        label_inputs(ctx, cluster, &wanted, found).await.inspect_err(touch)?;
    }
    if !write_condition(ctx, cluster, fact).await.inspect_err(touch)? {
        return Err(Error::Conflict(name.clone())).inspect_err(touch);
    }
    ctx.checks.note(&name, |name| ctx.stores.cluster(name).is_some());
    Ok(match has_secret {
        true if ready => Action::requeue(every),
        true => Action::requeue(secret_again(cluster, now().0.as_second())),
        false => Action::await_change(),
    })
}

fn valid_secret_again(clusters: usize) -> Duration {
    VALID_SECRET.max(VALID_SECRET_OF_MANY.saturating_mul(u32::try_from(clusters).unwrap_or(u32::MAX)))
}

/// When to read a missing or invalid Secret again, by how long the status has said that the inputs can't be used.
fn secret_again(cluster: &Cluster, now: i64) -> Duration {
    let conditions = cluster.status.iter().flat_map(|status| &status.cluster_conditions);
    let unusable = conditions.filter(|c| c.type_ == condition::INPUTS_READY && c.status == "False");
    let is_old = unusable.map(|c| now - c.last_transition_time.0.as_second()).any(|age| age >= SOON.as_secs() as i64);
    if is_old { SECRET_LATER } else { SECRET_SOON }
}

fn fact(cluster: &Cluster, found: &Found) -> Fact {
    if cluster.spec.hosted.is_some() && !cluster.spec.has_inventory() {
        // It refers to nothing that could be missing. An operation is refused with the same reason.
        let message = "The control plane is hosted and there is no inventory, so no operations can run.";
        return Fact::new(condition::INPUTS_READY, true, "NoInventory", message);
    }
    let readable = || {
        validate::cluster_namespace(cluster)?;
        validate::inputs_exist(cluster, found)?;
        validate::inputs_read(cluster, found)
    };
    match readable() {
        Ok((inventory, vars)) => {
            let hosts = api::count(inventory.hosts.len() as u64, "host", "hosts");
            let mut message = format!("The inventory names {hosts}.");
            if inventory.hosts.iter().any(|host| host.reached(&vars).is_ssh())
                && !validate::confirms_host_keys(cluster, found)
            {
                message.push_str(&format!(
                    " No host key is confirmed, so each run trusts the first key that a machine shows. Confirm them in the console, under Configuration, SSH access, or put them into ConfigMap {}.",
                    read::known_hosts(cluster)
                ));
            }
            message.push_str(&warning(&inventory, cluster, found));
            Fact::new(condition::INPUTS_READY, true, "Ready", message)
        }
        Err(refusal) => Fact::new(condition::INPUTS_READY, false, refusal.reason(), refusal.to_string()),
    }
}

/// The first sentence about what ansible won't read in the inputs, and how many more there are. The console shows all of them.
fn warning(inventory: &Inventory, cluster: &Cluster, found: &Found) -> String {
    let (hosts, variables) = validate::inputs_text(cluster, found).unwrap_or_default();
    let placed = |document: &str, warning: &str| match warning.strip_prefix("Line ") {
        Some(line) => format!("{document}, line {line}"),
        None => format!("{document}: {warning}"),
    };
    let of_inventory = inventory.warnings.iter().map(|warning| placed("Inventory", warning));
    let of_variables = inventory::advice_on_vars(&variables).into_iter().map(|warning| placed("Variables", &warning));
    let secret_variables = found.secret_vars.iter().flat_map(|secret| secret.data.iter().flatten());
    // Without the value, which a warning could quote.
    let of_secrets = secret_variables.flat_map(|(name, _)| inventory::advice_on_variable(name, ""));
    let of_secrets = of_secrets.map(|warning| placed("Secret variables", &warning));
    let warnings: Vec<String> = of_inventory.chain(of_variables).chain(of_secrets).collect();
    let Some(first) = warnings.first() else { return String::new() };
    // It may quote a value.
    let first = [hosts, variables].iter().fold(first.clone(), |said, text| Masker::new(text, None).value(said));
    match warnings.len() as u64 - 1 {
        0 => format!(" There is a warning. {first}"),
        more => format!(" There are {} warnings. {first}", more + 1),
    }
}

/// Labels the objects that the Cluster uses, and adds or removes owner references as `adoptInputs` says.
async fn label_inputs(ctx: &Context, cluster: &Cluster, wanted: &Wanted, found: &Found) -> Result<(), Error> {
    for (at, map) in &found.config_maps {
        label_input::<ConfigMap>(ctx, cluster, at, &map.metadata).await?;
    }
    if let (Some(at), Some(secret)) = (&wanted.ssh, &found.ssh) {
        label_input::<Secret>(ctx, cluster, at, &secret.metadata).await?;
    }
    if let (Some(at), Some(secret)) = (&wanted.secret_vars, &found.secret_vars) {
        label_input::<Secret>(ctx, cluster, at, &secret.metadata).await?;
    }
    Ok(())
}

async fn label_input<K>(ctx: &Context, cluster: &Cluster, at: &DataRef, metadata: &ObjectMeta) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
{
    let Some(patch) = label_patch(cluster, metadata) else { return Ok(()) };
    let api: Api<K> = Api::namespaced(ctx.client.clone(), &at.namespace);
    match api.patch(&at.name, &field_manager(), &Patch::Merge(&patch)).await {
        // The object is immutable, or the controller lacks the right. The Cluster can be used nevertheless.
        Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_invalid() => {
            tracing::warn!(cluster = cluster.name_any(), object = %at, why = status.message, "an input could not be labelled");
            Ok(())
        }
        answer => {
            answer.unless_changed().map_err(Error::while_doing("label an input"))?;
            Ok(())
        }
    }
}

/// The patch for an object that `cluster` uses; None if nothing has to change.
fn label_patch(cluster: &Cluster, metadata: &ObjectMeta) -> Option<Value> {
    let name = cluster.name_any();
    let mut patch = json!({});
    // A label holds one name: the first Cluster that uses an object keeps the label.
    let labelled = metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(crd::LABEL_USED_BY));
    if !labelled && label::is_value(&name) {
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
    // The precondition protects other owners: a merge patch replaces the whole list.
    patch["resourceVersion"] = json!(metadata.resource_version);
    Some(json!({"metadata": patch}))
}

/// The Clusters that refer to this ConfigMap.
pub(crate) fn users<'a>(namespace: &str, name: &str, clusters: impl Iterator<Item = &'a Cluster>) -> Vec<String> {
    let at = DataRef::new(namespace, name);
    clusters
        .filter(|cluster| {
            let wanted = read::references(cluster);
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
    fn k22_inputs_are_labelled_and_owned_only_if_adopted() {
        let patch = label_patch(&cluster(None), &ObjectMeta::default()).unwrap();
        assert_eq!(patch["metadata"]["labels"][crd::LABEL_USED_BY], "prod");
        assert_eq!(patch["metadata"].get("ownerReferences"), None);
        let patch = label_patch(&cluster(Some(true)), &ObjectMeta::default()).unwrap();
        assert_eq!(patch["metadata"]["ownerReferences"][0]["uid"], "u1");
    }

    #[test]
    fn idle_clusters_cause_few_requests() {
        for clusters in [1_u32, 10, 1050] {
            let requests = 3.0 * f64::from(clusters) / valid_secret_again(clusters as usize).as_secs_f64();
            assert!(requests <= 0.1 + f64::EPSILON, "{clusters} clusters: {requests} a second");
        }
        assert_eq!(valid_secret_again(5), VALID_SECRET);
    }

    #[test]
    fn a_secret_is_read_often_while_it_may_still_be_applied() {
        let mut new = cluster(None);
        assert_eq!(secret_again(&new, 1000), SECRET_SOON, "the status says nothing yet");
        let time = crd::Time(k8s_openapi::jiff::Timestamp::from_second(1000).unwrap());
        let missing = Fact::new(condition::INPUTS_READY, false, "ReferenceNotFound", "It is so.");
        crd::upsert(&mut new.status.get_or_insert_default().cluster_conditions, missing, &time, Some(1));
        assert_eq!([1000, 1299, 1300].map(|now| secret_again(&new, now)), [SECRET_SOON, SECRET_SOON, SECRET_LATER]);
    }

    #[test]
    fn ownership_is_removed_only_on_request() {
        let labels = Some([(crd::LABEL_USED_BY.to_owned(), "other".to_owned())].into());
        let owner = OwnerReference { uid: "u1".into(), ..OwnerReference::default() };
        let owned = ObjectMeta { labels, owner_references: Some(vec![owner]), ..ObjectMeta::default() };
        assert_eq!(label_patch(&cluster(None), &owned), None, "the console's own inputs stay owned");
        assert_eq!(label_patch(&cluster(Some(true)), &owned), None);
        let patch = label_patch(&cluster(Some(false)), &owned).unwrap();
        assert_eq!(patch["metadata"]["ownerReferences"], json!([]));
    }
}
