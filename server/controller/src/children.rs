//! Children are created once, by POST, under names that follow from the operation's; one that is there already counts only if
//! it was made for this very operation.

use crd::{ClusterOperation, DataRef};
use k8s_openapi::NamespaceResourceScope;
use kube::api::PostParams;
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::is_owned_by;
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
            let found = api.get_opt(&at.name).await.ok().flatten().filter(|found| is_owned_by(found, operation));
            return found.ok_or_else(|| Refusal::NotCreated { kind, at, why: status.message.clone() }.into());
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
