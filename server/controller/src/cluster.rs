//! The reconcile of a Cluster: what must be true of it beside its operations.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, OperationRecord, Phase};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Preconditions, PropagationPolicy};
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};

use crate::context::{Context, now};
use crate::error::{Answer, Error};
use crate::finish::write_entries;
use crate::{children, history, references, retention, verdict};

/// Removes what is too old, frees turns of operations that were deleted, looks after the objects the Cluster refers to.
pub(crate) async fn reconcile(cluster: Arc<Cluster>, ctx: Arc<Context>) -> Result<Action, Error> {
    if cluster.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    remove_excess(&ctx, &cluster).await?;
    if let Some(entry) = abandoned(&ctx, &cluster) {
        return free_turn(&ctx, &cluster, &entry).await;
    }
    references::look_after(&ctx, &cluster).await
}

async fn remove_excess(ctx: &Context, cluster: &Cluster) -> Result<(), Error> {
    let settings = ctx.stores.settings.state();
    let limit = retention::limit(settings.first().map(|map| &**map));
    for operation in retention::excess(&cluster.name_any(), &ctx.stores.operations.state(), limit) {
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

/// The turn of an operation that is no more, by what the stores show.
fn abandoned(ctx: &Context, cluster: &Cluster) -> Option<OperationRecord> {
    let entry = history::running(cluster)?;
    let there = ctx.stores.operation(&entry.cluster_ops).is_some_and(|operation| history::is_of(entry, &operation));
    (!there).then(|| entry.clone())
}

/// Frees it once nothing of that operation runs any more, by what the API itself says.
async fn free_turn(ctx: &Context, cluster: &Cluster, entry: &OperationRecord) -> Result<Action, Error> {
    let again = Action::requeue(Duration::from_secs(2));
    let found = ctx.operations().get_opt(&entry.cluster_ops).await.map_err(Error::while_doing("read an operation"))?;
    if found.is_some_and(|operation| history::is_of(entry, &operation)) {
        return Ok(again);
    }
    let namespace = entry.namespace.as_ref().unwrap_or(&cluster.spec.hosts_conf_ref.namespace);
    if !has_no_inputs(ctx, namespace, entry).await? {
        return Ok(again);
    }
    let (name, job) = (&entry.cluster_ops, crd::job_name(&entry.cluster_ops));
    let (its_job, its_pods) = match entry.uid {
        Some(_) => {
            let ours = format!("{}={name},{}={}", crd::LABEL_OPERATION, crd::LABEL_CLUSTER, cluster.name_any());
            (ListParams::default().labels(&ours), ListParams::default().labels(&ours))
        }
        // The reference system's Jobs have the same names, but other labels.
        None => (
            ListParams::default().fields(&format!("metadata.name={job}")),
            ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}")),
        ),
    };
    let jobs: Api<Job> = Api::namespaced(ctx.client.clone(), namespace);
    let jobs = jobs.list(&its_job).await.map_err(Error::while_doing("list Jobs"))?;
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), namespace);
    let pods = pods.list(&its_pods).await.map_err(Error::while_doing("list pods"))?;
    let ended = |pod: &Pod| {
        matches!(pod.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Succeeded" | "Failed"))
    };
    if jobs.items.iter().any(|job| !verdict::is_finished(job)) || !pods.items.iter().all(ended) {
        return Ok(again);
    }
    let closed = OperationRecord { status: Phase::Failed, end_time: Some(now()), ..entry.clone() };
    if write_entries(ctx, cluster, &[closed]).await? {
        Ok(Action::await_change())
    } else {
        Err(Error::Conflict(cluster.name_any()))
    }
}

/// Whether the snapshot of an operation that is no more is gone, too; takes it away where nobody has yet. Before its Jobs are
/// counted: a Job that was on its way then comes too late to have anything to run.
async fn has_no_inputs(ctx: &Context, namespace: &str, entry: &OperationRecord) -> Result<bool, Error> {
    for _ in 0..2 {
        let found = children::read_inputs(&ctx.client, namespace, &entry.cluster_ops, entry.uid.as_ref()).await?;
        match found {
            None => return Ok(true),
            Some(inputs) if inputs.metadata.deletion_timestamp.is_some() => return Ok(false),
            Some(inputs) => children::remove_inputs(&ctx.client, &inputs).await?,
        }
    }
    Ok(false)
}
