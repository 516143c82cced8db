//! Creating children. They are created once, by POST, under names derived from the operation's. A child that already exists counts
//! as created if it belongs to this very operation.

use crd::{ClusterOperation, DataRef};
use k8s_openapi::NamespaceResourceScope;
use kube::api::PostParams;
use kube::core::Status;
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ownership::{describe_owner, is_of_namesake, is_owned_by};
use crate::status::refusal::Refusal;

/// Why a child was not created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCreated {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A child of an earlier operation of the same name exists and will soon be collected.
    #[error("{0} of an earlier operation still exists")]
    Leftover(DataRef),
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// Creates `child`, or returns the one that an earlier attempt created.
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
        // A retry would get the same answer.
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 404 | 413 | 422) => {
            // Admission policies and quotas are checked before the name: the child may exist nevertheless.
            let found = match api.get_opt(&at.name).await {
                // Without the right to read there is also none to create, so nothing of this operation exists.
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
        Some(found) => Err(Refusal::Foreign { kind, at, owner: describe_owner(&found) }.into()),
    }
}

/// What the API's refusal means: a missing namespace stays missing, a full quota may get room, anything else must be allowed by a user.
fn refusal(kind: &'static str, at: DataRef, status: &Status) -> Refusal {
    let why = status.message.clone();
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    if status.code == 404 || causes.any(|cause| cause.reason == "NamespaceTerminating") {
        Refusal::NoNamespace { kind, at, why }
    } else if status.code == 403 && why.contains("exceeded quota") {
        // The API server's quota admission gives no reason or cause, only this text.
        Refusal::QuotaFull { kind, at, why }
    } else {
        Refusal::NotCreated { kind, at, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_policy_and_missing_namespace_are_told_apart() {
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
