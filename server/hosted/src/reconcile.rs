//! The reconcile of a Cluster.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, Fact, condition, upsert};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::Action;
use serde_json::json;

use crate::context::{Context, Reach};
use crate::steps::{self, Progress};
use crate::stop::Stop;
use crate::{delete, status};

/// How often a control plane that is ready is compared with its spec, for what isn't watched (Secrets, Services).
const COMPARE_EVERY: Duration = Duration::from_secs(300);

pub(crate) async fn reconcile(cluster: Arc<Cluster>, ctx: Arc<Context>) -> Result<Action, kube::Error> {
    let is_held = cluster.finalizers().iter().any(|finalizer| finalizer == crd::FINALIZER_HOSTED);
    let Some(hosted) = &cluster.spec.hosted else { return Ok(Action::await_change()) };
    if cluster.metadata.deletion_timestamp.is_some() {
        ctx.watches.end(&cluster.name_any());
        return if is_held { end(&ctx, &cluster, &hosted.namespace).await } else { Ok(forget(&ctx, &cluster)) };
    }
    if ctx.config.reach == Reach::Never {
        let message = "Hosted clusters need a real Kubernetes, because their control planes are pods. Standalone mode has none: run the server in a Kubernetes cluster, or register machines instead.";
        return stopped(&ctx, &cluster, &Progress::default(), &Stop::refuse("NeedsKubernetes", message)).await;
    }
    if hosted.paused == Some(true) {
        return paused(&ctx, &cluster).await;
    }
    let mut progress = Progress::default();
    let plan = match steps::first(&ctx, &cluster, hosted, &mut progress).await {
        Err(stop) => return stopped(&ctx, &cluster, &progress, &stop).await,
        Ok(plan) => plan,
    };
    if !is_held {
        return hold(&ctx, &cluster).await;
    }
    ctx.watches.begin(&ctx.client, &cluster.name_any(), &hosted.namespace);
    match steps::further(&ctx, &plan, &mut progress).await {
        Err(stop) => stopped(&ctx, &cluster, &progress, &stop).await,
        Ok(()) => {
            let known = status::known(&ctx, &cluster);
            let new = status::after(&known, &progress, Ok(()), cluster.metadata.generation);
            status::write(&ctx, &cluster, new).await?;
            Ok(Action::requeue(COMPARE_EVERY))
        }
    }
}

/// Shows why the reconcile stopped.
async fn stopped(ctx: &Context, cluster: &Cluster, progress: &Progress, stop: &Stop) -> Result<Action, kube::Error> {
    tracing::debug!(
        cluster = cluster.name_any(),
        reason = stop.reason,
        message = stop.message,
        "a hosted cluster isn't ready"
    );
    let known = status::known(ctx, cluster);
    status::write(ctx, cluster, status::after(&known, progress, Err(stop), cluster.metadata.generation)).await?;
    Ok(Action::requeue(stop.again))
}

/// Nothing is read or written while it is paused, so Ready is unknown.
async fn paused(ctx: &Context, cluster: &Cluster) -> Result<Action, kube::Error> {
    let mut new = status::known(ctx, cluster);
    let message = "spec.hosted.paused is true: the server leaves the control plane as it is.".to_owned();
    let fact = Fact { kind: condition::READY, holds: None, reason: "Paused".into(), message };
    let now = crd::Time(jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).expect("a time of today"));
    upsert(&mut new.conditions, fact, &now, cluster.metadata.generation);
    new.observed_generation = cluster.metadata.generation;
    status::write(ctx, cluster, new).await?;
    Ok(Action::await_change())
}

/// Adds the finalizer, before any object of the control plane exists.
async fn hold(ctx: &Context, cluster: &Cluster) -> Result<Action, kube::Error> {
    let mut finalizers = cluster.finalizers().to_vec();
    finalizers.push(crd::FINALIZER_HOSTED.into());
    write_finalizers(ctx, cluster, &finalizers).await?;
    Ok(Action::requeue(Duration::from_millis(100)))
}

/// Deletes the control plane, then removes the finalizer.
async fn end(ctx: &Context, cluster: &Cluster, namespace: &str) -> Result<Action, kube::Error> {
    if ctx.config.reach != Reach::Never
        && let Err(stop) = delete::everything(&ctx.client, cluster, namespace).await
    {
        return stopped(ctx, cluster, &Progress::default(), &stop).await;
    }
    let others: Vec<String> =
        cluster.finalizers().iter().filter(|finalizer| *finalizer != crd::FINALIZER_HOSTED).cloned().collect();
    write_finalizers(ctx, cluster, &others).await?;
    Ok(forget(ctx, cluster))
}

fn forget(ctx: &Context, cluster: &Cluster) -> Action {
    if let Some(uid) = &cluster.metadata.uid {
        ctx.written.lock().remove(uid);
    }
    Action::await_change()
}

/// The precondition protects the finalizers of other programs. On a conflict the reconcile is repeated.
async fn write_finalizers(ctx: &Context, cluster: &Cluster, finalizers: &[String]) -> Result<(), kube::Error> {
    let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": cluster.metadata.resource_version}});
    let params = PatchParams { field_manager: Some(crd::PRODUCT.into()), ..PatchParams::default() };
    match ctx.clusters_api().patch(&cluster.name_any(), &params, &Patch::Merge(&patch)).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}
