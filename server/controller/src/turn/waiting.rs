//! What an operation's status says while the operation waits, for its turn or with it.

use std::time::Duration;

use crd::{ClusterOperation, Phase};
use kube::runtime::events::EventType;

use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::next::{Hold, Next, Wait};
use crate::status::event::tell;
use crate::status::refusal::Refusal;
use crate::status::sentence::cut;
use crate::status::write;

/// The reason of an operation that waits for `--max-running`.
const SLOT: &str = "TooManyRunning";
/// The reason of an operation that waits for room on the disk.
const DISK_FULL: &str = "DiskFull";
/// The reason of an operation whose inputs are missing.
pub(crate) const INPUTS: &str = "WaitsForInputs";
/// How often missing inputs are looked for: at first often, because the same `kubectl apply` may create them.
const INPUTS_SOON: Duration = Duration::from_secs(1);
const INPUTS_LATER: Duration = Duration::from_secs(5);
/// Until which age of the operation they are looked for often.
const SOON: Duration = Duration::from_secs(20);
/// When to retry what the API refused. A change of a quota or policy causes no watch event.
const REFUSED: Duration = Duration::from_secs(30);

/// Another operation of the cluster goes first.
pub(crate) fn for_operation(operation: &ClusterOperation, other: &str) -> Next {
    let message = format!("Waiting for operation {other} on cluster {}.", operation.spec.cluster);
    Next::Wait(Wait { reason: "ClusterBusy", message, again: None })
}

/// As many operations run as `--max-running` allows.
pub(crate) fn for_slot(ctx: &Context, operation: &ClusterOperation) -> Next {
    ctx.want_slot();
    if last_reason(operation) == Some(INPUTS) && is_young(operation, ctx.config.inputs_timeout) {
        // It needs a slot only to look for its inputs again: the status keeps saying that these are missing.
        return Next::again_after(INPUTS_LATER);
    }
    let most = api::count(ctx.config.max_running as u64, "operation runs", "operations run");
    let message = format!("Waiting because {most}, and --max-running allows no more.");
    Next::Wait(Wait { reason: SLOT, message, again: None })
}

/// The disk of the data directory is full.
pub(crate) fn for_room() -> Next {
    let message = format!("Waiting because {}. The operation starts when there is room again.", disk::FULL);
    Next::Wait(Wait { reason: DISK_FULL, message, again: None })
}

/// The same, for an operation that has the turn already.
pub(crate) fn for_room_with_turn() -> Next {
    let why = format!("Waiting because {}.", disk::FULL);
    Next::Hold(Hold { reason: DISK_FULL, why, advice: "Free some space.".into() })
}

/// What to do about something that the operation needs and that people and tools may still create: they apply files in any order. None if it
/// can't be waited for, or not any longer: then the operation is refused.
pub(crate) fn for_missing(ctx: &Context, operation: &ClusterOperation, refusal: &Refusal) -> Option<Next> {
    let timeout = refusal.timeout(ctx.config.inputs_timeout)?;
    let (since, begin) = first_in_queue(ctx, operation)?;
    let age = now().0.as_second() - since;
    if !is_within(age, timeout) {
        return None;
    }
    let message = format!("{refusal} The operation waits for it until {} after {begin}.", in_words(timeout));
    let again = if is_within(age, SOON) { INPUTS_SOON } else { INPUTS_LATER };
    Some(Next::Wait(Wait { reason: INPUTS, message, again: Some(again) }))
}

/// Since when no run keeps the operation waiting, in seconds, and what happened then. Operations that ended without a run don't count, so that
/// a queue waits once for what all its operations need.
fn first_in_queue(ctx: &Context, operation: &ClusterOperation) -> Option<(i64, &'static str)> {
    let created = operation.metadata.creation_timestamp.as_ref()?.0.as_second();
    let operations = ctx.stores.operations.state();
    let others = operations.iter().filter(|other| other.spec.cluster == operation.spec.cluster);
    let runs = others.filter_map(|other| other.status.as_ref()).filter(|status| status.job_ref.is_some());
    let ended = runs.filter_map(|status| Some(status.end_time.as_ref()?.0.as_second())).max();
    Some(match ended {
        Some(ended) if ended > created => (ended, "the end of the run before it"),
        _ => (created, "its submission"),
    })
}

/// A setting in words: whole minutes where it has them.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 && seconds.is_multiple_of(60) { format!("{} min", seconds / 60) } else { format!("{seconds} s") }
}

fn is_young(operation: &ClusterOperation, limit: Duration) -> bool {
    let age = operation.metadata.creation_timestamp.as_ref().map(|since| now().0.as_second() - since.0.as_second());
    age.is_some_and(|age| is_within(age, limit))
}

fn is_within(seconds: i64, limit: Duration) -> bool {
    seconds < i64::try_from(limit.as_secs()).unwrap_or(i64::MAX)
}

/// Whether the status says that the operation waits.
pub(crate) fn waited(operation: &ClusterOperation) -> bool {
    operation.status.as_ref().is_some_and(|status| crd::is_true(&status.conditions, crd::condition::QUEUED))
}

/// Whether the status says that the operation waits for `--max-running`.
pub(crate) fn waited_for_slot(operation: &ClusterOperation) -> bool {
    waited(operation) && last_reason(operation) == Some(SLOT)
}

/// Whether the status says that the operation waits for room on the disk.
pub(crate) fn waited_for_room(operation: &ClusterOperation) -> bool {
    last_reason(operation) == Some(DISK_FULL)
}

fn last_reason(operation: &ClusterOperation) -> Option<&str> {
    operation.status.as_ref()?.reason.as_deref()
}

/// Writes what the operation waits for, with one Event per reason.
pub(crate) async fn wait(ctx: &Context, operation: &ClusterOperation, wait: &Wait) -> Result<Next, Error> {
    let Wait { reason, message, again } = wait;
    let written = write::queued(ctx, operation, reason, message).await?;
    if written && !(waited(operation) && last_reason(operation) == Some(*reason)) {
        // The first Event is called Queued. A second one of the same name would only raise the count of the first.
        let name = if waited(operation) { reason } else { "Queued" };
        tell(ctx, operation, EventType::Normal, name, message).await;
    }
    Ok(again.map_or_else(Next::when_changed, Next::again_after))
}

/// Keeps the turn of an operation that can neither start nor end because the API refuses what that takes, says so, and retries.
pub(crate) async fn hold(ctx: &Context, operation: &ClusterOperation, hold: Hold) -> Result<Next, Error> {
    let Hold { reason, why, advice } = hold;
    let why = cut(&masking::Masker::default().value(why), 600);
    let message =
        format!("{why} {advice} The operation keeps the cluster's turn and is retried every {} s.", REFUSED.as_secs());
    let Some(started) = operation.status.as_ref().filter(|status| status.status == Phase::Running) else {
        return Ok(Next::Wait(Wait { reason, message, again: Some(REFUSED) }));
    };
    write::held(ctx, operation, started, reason, &message).await?;
    Ok(Next::again_after(REFUSED))
}
