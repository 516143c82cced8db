//! The steps of a Cluster's reconcile.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, OperationRecord, Phase};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Preconditions, PropagationPolicy};
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};

use crate::clock::now;
use crate::cluster::{references, retention};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::snapshot;
use crate::job::state;
use crate::request::Answer;
use crate::turn::cluster_status::write_entries;
use crate::turn::history;

/// Removes old operations, frees the turn of a deleted operation, and checks the inputs.
pub(crate) async fn reconcile(cluster: Arc<Cluster>, ctx: Arc<Context>) -> Result<Action, Error> {
    if cluster.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    remove_excess(&ctx, &cluster).await?;
    if let Some(entry) = turn_of_deleted(&ctx, &cluster) {
        return free_turn(&ctx, &cluster, &entry).await;
    }
    references::check(&ctx, &cluster).await
}

async fn remove_excess(ctx: &Context, cluster: &Cluster) -> Result<(), Error> {
    let settings = ctx.stores.settings.state();
    let limit = retention::limit(settings.first().map(|map| &**map));
    for operation in retention::excess(cluster, &ctx.stores.operations.state(), limit) {
        let params = DeleteParams {
            preconditions: Some(Preconditions { uid: operation.metadata.uid.clone(), resource_version: None }),
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        let answer = ctx.operations().delete(&operation.name_any(), &params).await;
        answer.unless_changed().map_err(Error::while_doing("remove an old operation"))?;
    }
    Ok(())
}

/// The turn of an operation that no longer exists, according to the stores.
fn turn_of_deleted(ctx: &Context, cluster: &Cluster) -> Option<OperationRecord> {
    let entry = history::running(cluster)?;
    let exists = ctx.stores.operation(&entry.cluster_ops).is_some_and(|operation| history::is_of(entry, &operation));
    (!exists).then(|| entry.clone())
}

/// Frees the turn once nothing of that operation runs any more, according to the API.
async fn free_turn(ctx: &Context, cluster: &Cluster, entry: &OperationRecord) -> Result<Action, Error> {
    let again = Action::requeue(Duration::from_secs(2));
    let found = ctx.operations().get_opt(&entry.cluster_ops).await.map_err(Error::while_doing("read an operation"))?;
    if found.is_some_and(|operation| history::is_of(entry, &operation)) {
        return Ok(again);
    }
    let namespace = entry.namespace.as_ref().unwrap_or(&cluster.spec.hosts_conf_ref.namespace);
    if !is_snapshot_gone(ctx, namespace, entry).await? {
        return Ok(again);
    }
    let (name, job) = (&entry.cluster_ops, crd::job_name(&entry.cluster_ops));
    let (its_job, its_pods) = match entry.uid {
        Some(_) => {
            let ours = format!("{}={name},{}={}", crd::LABEL_OPERATION, crd::LABEL_CLUSTER, cluster.name_any());
            (ListParams::default().labels(&ours), ListParams::default().labels(&ours))
        }
        // A Job of the reference controller has the same name, but other labels.
        None => (
            ListParams::default().fields(&format!("metadata.name={job}")),
            ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}")),
        ),
    };
    let jobs: Api<Job> = Api::namespaced(ctx.client.clone(), namespace);
    let jobs = jobs.list(&its_job).await.map_err(Error::while_doing("list Jobs"))?;
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), namespace);
    let pods = pods.list(&its_pods).await.map_err(Error::while_doing("list pods"))?;
    if jobs.items.iter().any(|job| !state::job_has_ended(job)) || !pods.items.iter().all(state::pod_has_ended) {
        return Ok(again);
    }
    let ended = OperationRecord { status: Phase::Failed, end_time: Some(now()), ..entry.clone() };
    if write_entries(ctx, cluster, &[ended]).await? {
        Ok(Action::await_change())
    } else {
        Err(Error::Conflict(cluster.name_any()))
    }
}

/// Whether the snapshot of a deleted operation is gone; deletes it if not. This must come before the check for Jobs: a Job that another
/// replica creates after the check then has nothing to mount, and never starts.
async fn is_snapshot_gone(ctx: &Context, namespace: &str, entry: &OperationRecord) -> Result<bool, Error> {
    for _ in 0..2 {
        let found = snapshot::read(&ctx.client, namespace, &entry.cluster_ops, entry.uid.as_ref()).await?;
        match found {
            None => return Ok(true),
            Some(found) if found.metadata.deletion_timestamp.is_some() => return Ok(false),
            Some(found) => snapshot::remove(&ctx.client, &found).await?,
        }
    }
    Ok(false)
}
