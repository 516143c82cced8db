//! Children are created once, by POST, under names that follow from the operation's; one that is there already counts only if
//! it was made for this very operation.

use crd::{ClusterOperation, DataRef};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::core::Status;
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::is_owned_by;
use crate::error::{Answer, Error};
use crate::refusal::Refusal;

/// Why there is no child.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCreated {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A child of an earlier operation of the same name is about to be collected.
    #[error("{0} of an earlier operation is still there")]
    Leftover(DataRef),
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// Creates `child`, or finds it where an earlier attempt created it.
pub(crate) async fn create<K>(
    client: &Client,
    operation: &ClusterOperation,
    kind: &'static str,
    child: &K,
) -> Result<K, NotCreated>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let at = DataRef::new(child.namespace().unwrap_or_default(), child.name_any());
    let api: Api<K> = Api::namespaced(client.clone(), &at.namespace);
    let params = PostParams { field_manager: Some(crd::PRODUCT.into()), ..PostParams::default() };
    match api.create(&params, child).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        // These answers stay the same however often one asks.
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 404 | 413 | 422) => {
            // Policies and quotas judge before the name does: ours may be there all the same.
            let found = match api.get_opt(&at.name).await {
                // Who may not create may not read, either: there is nothing of ours.
                Err(kube::Error::Api(status)) if status.is_forbidden() => None,
                found => found?.filter(|found| is_owned_by(found, operation)),
            };
            return found.ok_or_else(|| refusal(kind, at, &status).into());
        }
        other => return Ok(other?),
    }
    match api.get_opt(&at.name).await? {
        Some(found) if is_owned_by(&found, operation) => Ok(found),
        None => Err(NotCreated::Leftover(at)),
        Some(found) if found.meta().deletion_timestamp.is_some() || is_of_namesake(&found, operation) => {
            Err(NotCreated::Leftover(at))
        }
        Some(found) => Err(Refusal::Foreign { kind, at, owner: owner(&found) }.into()),
    }
}

/// The Job of `operation`, or its tombstone, as the API has it.
pub(crate) async fn read_job(
    client: &Client,
    operation: &ClusterOperation,
    namespace: &str,
) -> Result<Option<Job>, Error> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), namespace);
    let job = jobs.get_opt(&crd::job_name(&operation.name_any())).await.map_err(Error::while_doing("read a Job"))?;
    Ok(job.filter(|job| is_owned_by(job, operation)))
}

/// The snapshot of the operation with this name and uid, as the API has it.
pub(crate) async fn read_inputs(
    client: &Client,
    namespace: &str,
    operation: &str,
    uid: Option<&String>,
) -> Result<Option<Secret>, Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_opt(&crd::inputs_name(operation)).await.map_err(Error::while_doing("read a snapshot"))?;
    Ok(found.filter(|found| found.owner_references().iter().any(|owner| Some(&owner.uid) == uid)))
}

/// Takes a snapshot away: it is immutable, as the inputs of a run have to be. A Job that comes later has nothing to run.
pub(crate) async fn remove_inputs(client: &Client, inputs: &Secret) -> Result<(), Error> {
    let this = Preconditions { uid: inputs.uid(), resource_version: None };
    let params = DeleteParams { preconditions: Some(this), ..DeleteParams::background() };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &inputs.namespace().unwrap_or_default());
    let answer = secrets.delete(&inputs.name_any(), &params).await;
    answer.unless_changed().map_err(Error::while_doing("take a snapshot away"))?;
    Ok(())
}

/// What such an answer means: a namespace that is gone stays gone, a quota may get room by itself, the rest is for people to allow.
fn refusal(kind: &'static str, at: DataRef, status: &Status) -> Refusal {
    let why = status.message.clone();
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    if status.code == 404 || causes.any(|cause| cause.reason == "NamespaceTerminating") {
        Refusal::NoNamespace { kind, at, why }
    } else if status.code == 403 && why.contains("exceeded quota") {
        // So the apiserver's ResourceQuota admission words it; there is no reason or cause of its own.
        Refusal::QuotaFull { kind, at, why }
    } else {
        Refusal::NotCreated { kind, at, why }
    }
}

/// Made for an operation of the same name that is no more: Kubernetes collects it within seconds.
fn is_of_namesake<K: Resource<DynamicType = ()>>(child: &K, operation: &ClusterOperation) -> bool {
    let name = operation.name_any();
    child.owner_references().iter().any(|owner| owner.kind == ClusterOperation::kind(&()) && owner.name == name)
}

fn owner<K: Resource<DynamicType = ()>>(child: &K) -> String {
    match child.owner_references().first() {
        Some(owner) => format!("{} {} (uid {})", owner.kind, owner.name, owner.uid),
        None => "nobody we know".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_missing_namespace_a_full_quota_or_a_matter_of_policy() {
        let reason = |code: u16, message: &str, cause: &str| {
            let details = serde_json::json!({"causes": [{"reason": cause, "message": "", "field": ""}]});
            let status = serde_json::json!({"status": "Failure", "code": code, "reason": "", "message": message, "details": details});
            refusal("Job", DataRef::new("lab", "a"), &serde_json::from_value(status).unwrap()).reason()
        };
        assert_eq!(reason(404, "namespaces \"lab\" not found", ""), "NamespaceNotFound");
        assert_eq!(reason(403, "namespace lab is being terminated", "NamespaceTerminating"), "NamespaceNotFound");
        let full = "jobs.batch \"a\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=5, limited: count/jobs.batch=5";
        assert_eq!(reason(403, full, ""), "QuotaExceeded");
        for code in [400, 403, 422] {
            assert_eq!(reason(code, "admission webhook \"images.example.com\" denied the request", ""), "NotCreated");
        }
    }
}
