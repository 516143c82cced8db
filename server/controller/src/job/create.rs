//! Creates the snapshot and the Job of an operation that has the turn, and decides what follows if the API refuses one of them.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, ClusterOperation, ResolvedInputs};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::runtime::events::EventType;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::evaluate::evaluate;
use crate::inputs::plan::Plan;
use crate::inputs::snapshot;
use crate::job::children::{self, NotCreated};
use crate::job::{build, lookup, placeholder};
use crate::memory::expectations::Written;
use crate::next::{Hold, Next};
use crate::secret_result;
use crate::status::event::tell;
use crate::status::outcome::{self, Outcome};
use crate::status::refusal::Refusal;
use crate::status::write;
use crate::turn::cluster_status::seconds_of_turn;
use crate::turn::waiting::{waited, waited_for_slot};
use crate::turn::{history, queue, waiting};

/// Reads and checks the inputs of an operation that has the turn of `cluster`.
pub(crate) async fn prepare(ctx: &Context, operation: &ClusterOperation, cluster: Arc<Cluster>) -> Result<Next, Error> {
    let may_start = queue::may_start(operation);
    if may_start.is_ok() && ctx.is_disk_full() {
        return Ok(waiting::for_room_with_turn());
    }
    let plan = match may_start {
        Ok(()) => {
            evaluate(ctx, operation, &cluster).await?.and_then(|plan| in_its_namespace(operation, &cluster, plan))
        }
        Err(refusal) => Err(refusal),
    };
    Ok(match plan {
        Ok(plan) => Next::Create(cluster, plan.into()),
        Err(refusal) => waiting::for_missing(ctx, operation, &refusal)
            .unwrap_or_else(|| Next::Abandon(Some(cluster), outcome::refused(&refusal, &now()).into())),
    })
}

/// The turn counts for one namespace: another replica may be creating the Job there.
fn in_its_namespace(operation: &ClusterOperation, cluster: &Cluster, plan: Plan) -> Result<Plan, Refusal> {
    match history::entry(cluster, operation).and_then(|entry| entry.namespace.clone()) {
        Some(from) if from != plan.namespace => Err(Refusal::Moved { from, to: plan.namespace }),
        _ => Ok(plan),
    }
}

/// Creates snapshot and Job.
pub(crate) async fn create(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Arc<Cluster>,
    plan: &Plan,
) -> Result<Next, Error> {
    let token = format!("{:032x}", rand::random::<u128>());
    let (job, inputs) = match create_children(ctx, operation, &cluster, plan, &token).await {
        Ok(Children::Job(job, _)) if placeholder::outcome(ctx, operation, &*job).is_some() => {
            return Ok(Next::Observe(job));
        }
        Ok(Children::Job(job, inputs)) => (job, inputs),
        Ok(Children::Ended(outcome)) => return Ok(Next::record(outcome, false)),
        Err(why) => return not_created(ctx, operation, cluster, why),
    };
    let (uid, on) = (operation.metadata.uid.clone().unwrap_or_default(), cluster.metadata.uid.clone());
    ctx.expectations.wrote(&uid, Written::Started { version: None, on: on.clone() });
    let (job, hosts) = (lookup::reference(&job), inputs.host_count);
    let written = write::running(ctx, operation, &job, Some(inputs), "Running", "The Job is running.").await?;
    let version = written.and_then(|written| written.metadata.resource_version);
    let is_news = version.is_some();
    ctx.expectations.wrote(&uid, Written::Started { version, on });
    // At most twelve requests per operation. One that waited and had much to read, or that took the turn itself after waiting for a
    // slot, has none left for this Event. Its conditions say the same.
    if is_news && !(waited(operation) && (plan.reads > 2 || waited_for_slot(operation))) {
        let hosts = api::count(hosts.into(), "host", "hosts");
        let note = format!("Job {}/{} was created. The inventory has {hosts}.", job.namespace, job.name);
        tell(ctx, operation, EventType::Normal, "Started", &note).await;
    }
    Ok(Next::when_changed())
}

/// What follows when the snapshot or the Job could not be created.
fn not_created(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Arc<Cluster>,
    why: NotCreated,
) -> Result<Next, Error> {
    let refused = |refusal: &Refusal| outcome::refused(refusal, &now());
    Ok(match why {
        NotCreated::Refused(refusal @ Refusal::Foreign { kind: "Job", .. }) => Next::record(refused(&refusal), true),
        NotCreated::Refused(refusal @ Refusal::QuotaFull { .. })
            if seconds_of_turn(ctx, operation) < quota_seconds(ctx) =>
        {
            let advice = format!(
                "Jobs that have ended count towards the quota until their operations are removed. The operation waits for {} s in all.",
                quota_seconds(ctx)
            );
            Next::Hold(Hold { reason: refusal.reason(), why: refusal.to_string(), advice })
        }
        NotCreated::Refused(refusal) => Next::Abandon(Some(cluster), refused(&refusal).into()),
        NotCreated::Leftover(at) if placeholder::may_wait(ctx, operation) => {
            tracing::info!(operation = operation.name_any(), %at, "waiting until a child of an earlier operation is collected");
            Next::again_after(Duration::from_secs(1))
        }
        NotCreated::Leftover(at) => {
            let owner = "an earlier operation of the same name".into();
            let refusal = Refusal::Foreign { kind: "Object", at, owner };
            Next::Abandon(Some(cluster), refused(&refusal).into())
        }
        NotCreated::Api(source) => return Err(Error::Api { what: "create the children of an operation", source }),
    })
}

/// How long an operation waits for room in a quota. Meanwhile it keeps the turn, and one of the slots.
fn quota_seconds(ctx: &Context) -> i64 {
    i64::try_from(ctx.config.quota_patience.as_secs()).unwrap_or(i64::MAX)
}

/// What exists under the names of the children.
enum Children {
    /// The Job or placeholder Job, and the inputs of the snapshot.
    Job(Arc<Job>, ResolvedInputs),
    /// A placeholder Secret with this result: no Job is created any more.
    Ended(Outcome),
}

async fn create_children(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    plan: &Plan,
    token: &str,
) -> Result<Children, NotCreated> {
    let snapshot = build::snapshot(operation, plan, token, secret_result::new_key(operation));
    let secret: Secret = children::create(&ctx.client, operation, "Secret", &snapshot).await?;
    if let Some(outcome) = placeholder::outcome(ctx, operation, &secret) {
        return Ok(Children::Ended(outcome));
    }
    // The snapshot that exists counts, not the one just built: after a crash it is an older one, and the Job mounts that.
    let inputs = snapshot::resolved(&secret);
    let forks = build::forks(usize::try_from(inputs.host_count).unwrap_or(usize::MAX));
    let job = build::job(operation, cluster, &secret, forks);
    let job = children::create(&ctx.client, operation, "Job", &job).await?;
    let uid = operation.uid().unwrap_or_default();
    let running = || queue::running_uids(&ctx.stores.clusters.state());
    ctx.run_secrets.keep(&uid, &secret, ctx.config.max_running, running);
    Ok(Children::Job(job.into(), inputs))
}
