//! From waiting to a Job: read, validate, claim, create.

use std::time::Duration;

use crd::{Cluster, ClusterOperation, Phase, ResolvedInputs};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;

use crate::children::{self, NotCreated};
use crate::context::{Context, now};
use crate::error::Error;
use crate::expectations::{Slot, Written};
use crate::finish::{conclude, finish, finish_stopped, get_cluster, refuse, write_entries};
use crate::inputs::{self, ReadError};
use crate::observe;
use crate::outcome::{self, Outcome};
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::snapshot;
use crate::tombstone::{self, abandon};
use crate::waiting::{hold, missing, wait, wait_for_slot, waited, waited_for_slot};
use crate::{build, history, turn, validate};

/// How often it looks again when the Cluster changes under its hands.
const ATTEMPTS: usize = 5;

/// Starts an operation whose turn it is; else says what it waits for.
pub(crate) async fn start(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    let name = &operation.spec.cluster;
    let stored = ctx.stores.cluster(name);
    if let Err(refusal) = may_start(operation) {
        let cluster = get_cluster(ctx, name).await?;
        return refuse(ctx, operation, cluster, &refusal).await;
    }
    let refused_before = stored.as_ref().is_some_and(|cluster| history::entry(cluster, operation).is_some());
    if !refused_before
        && let Some(other) = turn::predecessor(operation, &ctx.stores.operations.state(), stored.as_deref())
    {
        return wait(ctx, operation, "ClusterBusy", &format!("It waits for operation {other} on cluster {name}."))
            .await;
    }
    let mut current = match stored {
        Some(cluster) => Some(Cluster::clone(&cluster)),
        None => get_cluster(ctx, name).await?,
    };
    let uid = operation.metadata.uid.clone().unwrap_or_default();
    for _ in 0..ATTEMPTS {
        let mut slot = None;
        let Some(cluster) = current else {
            return missing(ctx, operation, None, &Refusal::NoSuchCluster { cluster: name.clone() }).await;
        };
        let plan = match (history::entry(&cluster, operation), history::running(&cluster)) {
            (Some(entry), _) if entry.status == Phase::Running => return Ok(Action::requeue(Duration::from_secs(1))),
            (Some(_), _) => evaluate(ctx, operation, &cluster).await?.and(Err(Refusal::Forgotten)),
            (None, Some(other)) => {
                let message = format!("It waits for operation {} on cluster {name}.", other.cluster_ops);
                return wait(ctx, operation, "ClusterBusy", &message).await;
            }
            (None, None) => {
                // Whoever waits for a slot reads when there is one, and nobody else then reads for the same.
                let running = turn::running_uids(&ctx.stores.clusters.state());
                slot = ctx.expectations.reserve(&uid, &running, ctx.config.max_running);
                if slot.is_none() {
                    return wait_for_slot(ctx, operation).await;
                }
                evaluate(ctx, operation, &cluster).await?
            }
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(refusal) => {
                drop(slot);
                // The store may be late: what the Cluster refers to now decides.
                let fresh = get_cluster(ctx, name).await?;
                let same = fresh
                    .as_ref()
                    .is_some_and(|fresh| fresh.metadata.resource_version == cluster.metadata.resource_version);
                if same {
                    return missing(ctx, operation, fresh, &refusal).await;
                }
                current = fresh;
                continue;
            }
        };
        let claim = history::claimed(operation, &plan.namespace, &now());
        if write_entries(ctx, &cluster, &[claim]).await? {
            slot.into_iter().for_each(Slot::keep);
            return create(ctx, operation, &cluster, &plan).await;
        }
        drop(slot);
        current = get_cluster(ctx, name).await?;
    }
    Err(Error::Conflict(name.clone()))
}

/// Goes on where somebody stopped between the claim and the Job. What the stores show may be old: everything is asked anew.
pub(crate) async fn resume(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    let fresh =
        ctx.operations().get_opt(&operation.name_any()).await.map_err(Error::while_doing("read an operation"))?;
    let Some(operation) = fresh.filter(|fresh| fresh.metadata.uid == operation.metadata.uid) else {
        return Ok(Action::await_change());
    };
    if outcome::is_over(&operation) {
        return conclude(ctx, &operation).await;
    }
    let cluster = get_cluster(ctx, &operation.spec.cluster).await?;
    let noted = operation.status.as_ref().and_then(|status| status.job_ref.clone());
    if let Some(namespace) = history::namespace(&operation, cluster.as_ref())
        && let Some(job) = children::read_job(&ctx.client, &operation, &namespace).await?
    {
        return observe::observe(ctx, &operation, &job).await;
    }
    let claim = cluster
        .as_ref()
        .and_then(|cluster| history::entry(cluster, &operation))
        .filter(|entry| entry.status == Phase::Running);
    let (Some(cluster), Some(_), false) = (&cluster, claim, noted.is_some_and(|job| job.uid.is_some())) else {
        return observe::job_is_gone(ctx, &operation).await;
    };
    run(ctx, &operation, cluster).await
}

/// Starts an operation that was left the turn.
pub(crate) async fn take(ctx: &Context, operation: &ClusterOperation) -> Result<Action, Error> {
    match ctx.stores.cluster(&operation.spec.cluster) {
        Some(cluster) => run(ctx, operation, &cluster).await,
        None => resume(ctx, operation).await,
    }
}

/// Runs or refuses an operation that has the turn.
async fn run(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster) -> Result<Action, Error> {
    let plan = match may_start(operation) {
        Ok(()) => evaluate(ctx, operation, cluster).await?.and_then(|plan| stayed(operation, cluster, plan)),
        Err(refusal) => Err(refusal),
    };
    match plan {
        Ok(plan) => create(ctx, operation, cluster, &plan).await,
        Err(refusal) => abandon(ctx, operation, Some(cluster), &outcome::refused(&refusal, &now())).await,
    }
}

/// A turn is for one namespace: a colleague may just be creating the Job there.
fn stayed(operation: &ClusterOperation, cluster: &Cluster, plan: Plan) -> Result<Plan, Refusal> {
    match history::entry(cluster, operation).and_then(|entry| entry.namespace.clone()) {
        Some(from) if from != plan.namespace => Err(Refusal::Moved { from, to: plan.namespace }),
        _ => Ok(plan),
    }
}

/// Nothing but its turn, and what it will read then, holds it back.
pub(crate) fn may_start(operation: &ClusterOperation) -> Result<(), Refusal> {
    if operation.spec.cancel == Some(true) { Err(Refusal::Cancelled) } else { validate::submission(operation) }
}

/// Reads the inputs and says what would run with them.
async fn evaluate(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
) -> Result<Result<Plan, Refusal>, Error> {
    let wanted = inputs::wanted(operation, cluster);
    let found = match inputs::read(ctx, &wanted).await {
        Ok(found) => found,
        Err(ReadError::Refused(refusal)) => return Ok(Err(*refusal)),
        Err(ReadError::Api(source)) => return Err(Error::Api { what: "read the inputs", source }),
    };
    match validate::plan(operation, cluster, &found) {
        Err(Refusal::InputsChanged { what }) => {
            Ok(Err(snapshot::compare(ctx, operation, cluster, &found).await.unwrap_or(Refusal::InputsChanged { what })))
        }
        other => Ok(other),
    }
}

/// Creates the children of an operation that has the turn.
async fn create(ctx: &Context, operation: &ClusterOperation, cluster: &Cluster, plan: &Plan) -> Result<Action, Error> {
    let token = format!("{:032x}", rand::random::<u128>());
    match create_children(ctx, operation, cluster, plan, &token).await {
        Ok(Children::Ended(outcome)) => finish(ctx, operation, &outcome).await,
        Ok(Children::Job(job, _)) if tombstone::outcome(&*job).is_some() => {
            observe::observe(ctx, operation, &job).await
        }
        Ok(Children::Job(job, inputs)) => {
            let (uid, on) = (operation.metadata.uid.clone().unwrap_or_default(), cluster.metadata.uid.clone());
            ctx.expectations.wrote(&uid, Written::Started { version: None, on: on.clone() });
            let job = observe::reference(&job);
            let hosts = inputs.host_count;
            let written = observe::write_running(ctx, operation, &job, Some(inputs)).await?;
            let version = written.and_then(|written| written.metadata.resource_version);
            let news = version.is_some();
            ctx.expectations.wrote(&uid, Written::Started { version, on });
            // The limit is twelve requests. Of one that waited and had much to read, or took the turn itself after it waited for a
            // slot, the conditions alone say that it began.
            if news && !(waited(operation) && (plan.reads > 2 || waited_for_slot(operation))) {
                let hosts = format!("{hosts} {}", if hosts == 1 { "host" } else { "hosts" });
                let note = format!("Its Job {}/{} was created for {hosts}.", job.namespace, job.name);
                ctx.tell(operation, EventType::Normal, "Started", &note).await;
            }
            Ok(Action::await_change())
        }
        Err(NotCreated::Refused(refusal @ Refusal::Foreign { kind: "Job", .. })) => {
            finish_stopped(ctx, operation, &outcome::refused(&refusal, &now())).await
        }
        Err(NotCreated::Refused(refusal @ Refusal::QuotaFull { .. }))
            if tombstone::seconds_of_turn(ctx, operation) < quota_seconds(ctx) =>
        {
            let advice = format!(
                "Jobs that have ended count, too, until their operations are removed. It waits for {} s in all.",
                quota_seconds(ctx)
            );
            hold(ctx, operation, refusal.reason(), &refusal.to_string(), &advice).await
        }
        Err(NotCreated::Refused(refusal)) => {
            abandon(ctx, operation, Some(cluster), &outcome::refused(&refusal, &now())).await
        }
        Err(NotCreated::Leftover(at)) if tombstone::may_wait(ctx, operation) => {
            tracing::info!(operation = operation.name_any(), %at, "waits until a child of its namesake is collected");
            Ok(Action::requeue(Duration::from_secs(1)))
        }
        Err(NotCreated::Leftover(at)) => {
            let refusal =
                Refusal::Foreign { kind: "Object", at, owner: "an earlier operation of the same name".into() };
            abandon(ctx, operation, Some(cluster), &outcome::refused(&refusal, &now())).await
        }
        Err(NotCreated::Api(source)) => Err(Error::Api { what: "create the children of an operation", source }),
    }
}

/// How long an operation with the turn, and so with one of the slots, waits for room in a quota.
fn quota_seconds(ctx: &Context) -> i64 {
    i64::try_from(ctx.config.quota_patience.as_secs()).unwrap_or(i64::MAX)
}

/// What stands where the children would be.
enum Children {
    /// The Job, or its tombstone, and the inputs it was made for.
    Job(Box<Job>, ResolvedInputs),
    /// A tombstone in place of the inputs: no Job is made any more.
    Ended(Outcome),
}

async fn create_children(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    plan: &Plan,
    token: &str,
) -> Result<Children, NotCreated> {
    let secret: Secret =
        children::create(&ctx.client, operation, "Secret", &build::inputs(operation, plan, token)).await?;
    if let Some(outcome) = tombstone::outcome(&secret) {
        return Ok(Children::Ended(outcome));
    }
    // The one that is there, not the one just built: after a crash it is the older one that the Job gets to see.
    let inputs = snapshot::resolved(&secret);
    let forks = build::forks(usize::try_from(inputs.host_count).unwrap_or(usize::MAX));
    let job = build::job(operation, cluster, &secret, forks);
    let job = children::create(&ctx.client, operation, "Job", &job).await?;
    ctx.secrets.keep(ctx, operation, &secret);
    Ok(Children::Job(Box::new(job), inputs))
}
