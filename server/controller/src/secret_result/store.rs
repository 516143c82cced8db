//! Storing a secret result: `<operation>-result`, and for a kubeconfig `<cluster>-kubeconfig`, which stays when the operation is deleted.

use std::collections::BTreeMap;

use crd::{Cluster, ClusterOperation, DataRef};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;

use crate::job::build::child;
use crate::job::children::{self, NotCreated};
use crate::ownership::describe_owner;
use crate::request::field_manager;
use crate::status::refusal::Refusal;

/// How storing went.
pub(super) enum Store {
    /// A sentence says where the result is.
    Done(String),
    /// Trying again may help. `stored` says which part is stored already.
    Later { why: String, stored: Option<String> },
    /// Trying again doesn't help.
    Refused(String),
}

/// The files of this operation's result, if an earlier try stored them.
pub(super) async fn stored(
    client: &Client,
    namespace: &str,
    operation: &ClusterOperation,
) -> Result<Option<Files>, kube::Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_opt(&crd::result_name(&operation.name_any())).await?;
    let own = found.filter(|found| crate::ownership::is_owned_by(found, operation));
    Ok(own.map(|secret| secret.data.unwrap_or_default()))
}

/// The files of a result, by name.
pub(super) type Files = BTreeMap<String, ByteString>;

/// Stores the files of a result. Can be repeated.
pub(super) async fn store(
    client: &Client,
    namespace: &str,
    operation: &ClusterOperation,
    cluster: Option<&Cluster>,
    files: Files,
) -> Store {
    let secret = Secret {
        metadata: child(operation, namespace, crd::result_name(&operation.name_any())),
        data: Some(files.clone()),
        immutable: Some(true),
        type_: Some("Opaque".into()),
        ..Secret::default()
    };
    match children::create(client, operation, "Secret", &secret).await {
        Ok(_) => finish(client, namespace, operation, cluster, &files).await,
        Err(NotCreated::Refused(refusal)) if !matches!(refusal, Refusal::QuotaFull { .. }) => {
            Store::Refused(format!("{refusal}."))
        }
        Err(why) => Store::Later { why: format!("{why}."), stored: None },
    }
}

/// Does what is left when the operation's Secret exists.
pub(super) async fn finish(
    client: &Client,
    namespace: &str,
    operation: &ClusterOperation,
    cluster: Option<&Cluster>,
    files: &Files,
) -> Store {
    let stored = format!("The result is in Secret {namespace}/{}.", crd::result_name(&operation.name_any()));
    let (Some(cluster), Some(kubeconfig)) = (cluster, files.get(crd::KEY_KUBECONFIG)) else {
        return Store::Done(stored);
    };
    match for_cluster(client, namespace, operation, cluster, kubeconfig).await {
        Ok(told) => Store::Done(format!("{stored} {told}")),
        Err((why, error)) if is_permanent(&error) => Store::Done(format!("{stored} {why}")),
        Err((why, _)) => Store::Later { why, stored: Some(stored) },
    }
}

/// Whether the API server would refuse the same request again.
pub(super) fn is_permanent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if (400..500).contains(&status.code) && ![408, 409, 429].contains(&status.code))
}

/// Stores the kubeconfig for the cluster. A Secret that a user made under that name is left as it is.
async fn for_cluster(
    client: &Client,
    namespace: &str,
    operation: &ClusterOperation,
    cluster: &Cluster,
    kubeconfig: &ByteString,
) -> Result<String, (String, kube::Error)> {
    let at = DataRef::new(namespace, crd::kubeconfig_name(&cluster.name_any()));
    let failed = |error: kube::Error| (format!("Secret {at} could not be written: {error}."), error);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = of_cluster(&at, operation, cluster, kubeconfig);
    let params = PostParams { field_manager: Some(crd::PRODUCT.into()), ..PostParams::default() };
    match secrets.create(&params, &secret).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        created => return created.map(|_| format!("The cluster's kubeconfig is in Secret {at}.")).map_err(failed),
    }
    let found = secrets.get(&at.name).await.map_err(failed)?;
    let is_own = found.owner_references().iter().any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref());
    if !is_own {
        return Ok(format!(
            "Secret {at} was not replaced: it belongs to {}. Delete it, and run the operation again, if this kubeconfig should be used.",
            describe_owner(&found)
        ));
    }
    // The version is not part of the patch's precondition: operations on one cluster run one after the other.
    let patch = json!({"metadata": {"uid": found.metadata.uid, "labels": secret.metadata.labels}, "data": secret.data});
    secrets.patch(&at.name, &field_manager(), &Patch::Merge(&patch)).await.map_err(failed)?;
    Ok(format!("The cluster's kubeconfig in Secret {at} was replaced."))
}

fn of_cluster(at: &DataRef, operation: &ClusterOperation, cluster: &Cluster, kubeconfig: &ByteString) -> Secret {
    let mut metadata = child(operation, &at.namespace, at.name.clone());
    metadata.owner_references = cluster.controller_owner_ref(&()).map(|owner| vec![owner]);
    Secret {
        metadata,
        data: Some([(crd::KEY_KUBECONFIG.to_owned(), kubeconfig.clone())].into()),
        type_: Some("Opaque".into()),
        ..Secret::default()
    }
}
