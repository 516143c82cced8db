//! Which objects to reconcile after a change.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crd::{Cluster, ClusterOperation, Phase};
use disk::Room;
use futures::{Stream, StreamExt, stream};
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use tokio::sync::broadcast;

use crate::cluster::references;
use crate::context::Context;
use crate::turn::waiting::{waited_for_room, waited_for_slot};
use crate::turn::{history, queue};
use crate::watch::change::{self, Change, ChangeKind};

/// Delay before a slot that was given back is offered again, or two refused operations would hand one slot back and forth.
const GIVEN_BACK: Duration = Duration::from_secs(1);

/// The operations to reconcile: at first all, then those that a change concerns, and those that wait for a slot that was given back or
/// for room on the disk.
pub(crate) fn operations(
    ctx: Arc<Context>,
    changes: broadcast::Receiver<Change>,
) -> impl Stream<Item = ObjectRef<ClusterOperation>> + Send {
    let given_back = stream::select(given_back(ctx.clone()), room_again(ctx.clone()));
    let names = move |change: &Change| concerned_operations(&ctx, change);
    let concerned = following(changes).flat_map(move |change| stream::iter(names(&change)));
    stream::select(concerned, given_back).map(|name| ObjectRef::new(&name))
}

/// An operation that got a slot and didn't start changes no object, so no watch reports that the slot is free. The next operation that
/// waits for a slot is reconciled instead. The one that gave the slot back is not: it schedules its own retry.
fn given_back(ctx: Arc<Context>) -> impl Stream<Item = String> + Send {
    let names = stream::unfold(ctx, |ctx| async move {
        let givers = ctx.expectations.slots_given_back(GIVEN_BACK).await;
        let gave =
            |operation: &ClusterOperation| operation.metadata.uid.as_ref().is_some_and(|uid| givers.contains(uid));
        let waiting = ctx.stores.operations.state_filter(|operation| waited_for_slot(operation) && !gave(operation));
        Some((stream::iter(waiting_for_slots(&ctx, &waiting)), ctx))
    });
    names.flatten()
}

/// The operations that wait for room, each time the disk has room again.
fn room_again(ctx: Arc<Context>) -> impl Stream<Item = String> + Send {
    let room = ctx.config.room.clone();
    let names = stream::unfold((ctx, room), |(ctx, mut room)| async move {
        if room.changed().await.is_err() {
            // The room is not watched, as in tests.
            std::future::pending::<()>().await;
        }
        let is_full = *room.borrow_and_update() == Room::Full;
        let waiting = ctx.stores.operations.state_filter(|operation| !is_full && waited_for_room(operation));
        let names: Vec<String> = waiting.iter().map(|operation| operation.name_any()).collect();
        Some((stream::iter(names), (ctx, room)))
    });
    names.flatten()
}

/// The Clusters to reconcile.
pub(crate) fn clusters(
    ctx: Arc<Context>,
    changes: broadcast::Receiver<Change>,
) -> impl Stream<Item = ObjectRef<Cluster>> + Send {
    let names = move |change: &Change| concerned_clusters(&ctx, change);
    following(changes).flat_map(move |change| stream::iter(names(&change))).map(|name| ObjectRef::new(&name))
}

fn following(changes: broadcast::Receiver<Change>) -> impl Stream<Item = Change> + Send {
    let live = stream::unfold(changes, |mut changes| async move { Some((change::next(&mut changes).await?, changes)) });
    stream::once(async { Change::everything() }).chain(live)
}

fn concerned_operations(ctx: &Context, change: &Change) -> Vec<String> {
    let operations = ctx.stores.operations.state();
    let mut names = match change.kind {
        ChangeKind::Everything => operations.iter().map(|operation| operation.name_any()).collect(),
        ChangeKind::Operation if ctx.stores.operation(&change.name).is_none() => {
            queue::open_of(&change.cluster, &operations).map(|operation| operation.name_any()).collect()
        }
        ChangeKind::Operation => {
            let mut names = queue::concerned(&change.cluster, Some(&change.name), &operations);
            names.push(change.name.to_string());
            names
        }
        ChangeKind::Cluster => {
            let mut names = queue::concerned(&change.name, None, &operations);
            let cluster = ctx.stores.cluster(&change.name);
            let entries = cluster.as_ref().map(|cluster| history::entries(cluster)).unwrap_or_default();
            names.extend(
                entries.iter().filter(|entry| entry.status == Phase::Running).map(|entry| entry.cluster_ops.clone()),
            );
            if entries.is_empty() {
                // The Cluster is new or restored: operations that ran on it before write their entries again.
                names.extend(
                    operations
                        .iter()
                        .filter(|operation| *operation.spec.cluster == *change.name)
                        .map(|operation| operation.name_any()),
                );
            }
            names.extend(waiting_for_slots(ctx, &operations));
            names
        }
        ChangeKind::Run => vec![change.name.to_string()],
        ChangeKind::Inputs | ChangeKind::Settings => Vec::new(),
    };
    names.sort_unstable();
    names.dedup();
    names.retain(|name| ctx.stores.operation(name).is_some());
    names
}

fn waiting_for_slots(ctx: &Context, operations: &[Arc<ClusterOperation>]) -> Vec<String> {
    if !ctx.slots_wanted.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let clusters = ctx.stores.clusters.state();
    let running = clusters
        .iter()
        .flat_map(|cluster| history::entries(cluster))
        .filter(|entry| entry.status == Phase::Running)
        .count();
    queue::startable(operations, &clusters, ctx.config.max_running.saturating_sub(running))
}

fn concerned_clusters(ctx: &Context, change: &Change) -> Vec<String> {
    let all = || ctx.stores.clusters.state().iter().map(|cluster| cluster.name_any()).collect::<Vec<_>>();
    let gone_or_ended = || ctx.stores.operation(&change.name).is_none_or(|operation| !queue::is_open(&operation));
    // An operation met other inputs than the Cluster's status says, and has just said so.
    let met_others = || ctx.is_touched(&change.cluster);
    let mut names = match change.kind {
        ChangeKind::Everything | ChangeKind::Settings => all(),
        ChangeKind::Cluster => vec![change.name.to_string()],
        ChangeKind::Operation | ChangeKind::Run if gone_or_ended() || met_others() => vec![change.cluster.to_string()],
        ChangeKind::Operation | ChangeKind::Run => Vec::new(),
        ChangeKind::Inputs => {
            let (namespace, name) = change.name.split_once('/').unwrap_or_default();
            let users =
                references::users(namespace, name, ctx.stores.clusters.state().iter().map(|cluster| &**cluster));
            users.iter().for_each(|user| ctx.touch(user));
            users
        }
    };
    names.retain(|name| ctx.stores.cluster(name).is_some());
    names
}
