//! The garbage collector. It deletes objects whose owners or namespace are gone, carries out the propagation policy of
//! deletions (orphan, foreground), and removes old Events.
//!
//! It follows the history as a watch does, and examines the objects that a change may affect. At start, and if it has
//! fallen behind the history, it examines every object.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};
use crate::object;
use crate::request::{DeleteOptions, Propagation};
use crate::store::{Change, Key, Visible};
use crate::verbs::Objects;

/// Objects examined concurrently, so that their writes share transactions.
const CONCURRENT: usize = 64;
/// The time for which an Event is kept after it was last seen.
const EVENTS: SignedDuration = SignedDuration::from_hours(1);
/// When objects are examined again whose writes the disk refused.
const AGAIN: Duration = Duration::from_secs(1);
/// The interval at which old Events are deleted.
const SWEEP: Duration = Duration::from_secs(60);

pub(crate) async fn run(objects: Arc<Objects>, shutdown: CancellationToken) {
    let mut revisions = objects.store.revisions();
    let (mut cursor, mut affected) = {
        let visible = objects.store.read();
        (visible.revision, visible.index.all_keys().into_iter().collect::<BTreeSet<_>>())
    };
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        let (keys, refusals) = (std::mem::take(&mut affected), objects.store.refusals());
        stream::iter(keys.clone()).for_each_concurrent(CONCURRENT, |key| examine(&objects, key)).await;
        // The disk may be full, and some of these keys were not written.
        if objects.store.refusals() > refusals {
            affected = keys;
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(AGAIN), if !affected.is_empty() => {}
            _ = sweep.tick() => delete_old_events(&objects).await,
            changed = revisions.changed() => {
                if changed.is_err() {
                    return;
                }
                let visible = objects.store.read();
                match visible.history.after(cursor) {
                    Ok(changes) => changes.for_each(|change| add_affected(&objects, &visible, change, &mut affected)),
                    Err(_) => affected.extend(visible.index.all_keys()),
                }
                cursor = visible.revision;
            }
        }
    }
}

/// Adds the objects that a change may affect.
fn add_affected(objects: &Objects, visible: &Visible, change: &Change, affected: &mut BTreeSet<Key>) {
    if let Some(new) = &change.new
        && (object::is_deleting(&new.value) || object::owners(&new.value).next().is_some())
    {
        affected.insert(change.key.clone());
    }
    let Some(old) = &change.old else {
        // The deletion of the namespace's objects may not have seen this new one.
        if namespace_is_ending(objects, visible, &change.key) {
            affected.insert(change.key.clone());
        }
        return;
    };
    // Owners in deletion may wait until this child is gone or refers to them no longer.
    let owners = object::owners(&old.value).filter_map(|owner| visible.index.by_uid(object::text(owner, "uid")));
    affected.extend(owners.cloned());
    if change.new.is_none() {
        affected.extend(visible.index.dependents(object::uid(&old.value)));
        if !change.key.namespace.is_empty() {
            affected.insert(Objects::key(objects.kinds.built_in(BuiltIn::Namespace), None, &change.key.namespace));
        }
    }
}

fn namespace_is_ending(objects: &Objects, visible: &Visible, key: &Key) -> bool {
    let namespace = Objects::key(objects.kinds.built_in(BuiltIn::Namespace), None, &key.namespace);
    let found = visible.index.get(&namespace);
    !key.namespace.is_empty() && found.is_none_or(|namespace| object::is_deleting(&namespace.value))
}

async fn examine(objects: &Objects, key: Key) {
    let Some(found) = objects.store.get(&key) else { return };
    let Some(kind) = objects.kinds.stored_as(&key.resource) else { return };
    let value = &found.value;
    let without_namespace = namespace_is_ending(objects, &objects.store.read(), &key);
    if without_namespace && !object::is_deleting(value) {
        let options = DeleteOptions::collected(object::uid(value), Propagation::Background);
        report(objects.delete_key(kind, &key, &options).await);
        return;
    }
    let waits_for = |finalizer| object::is_deleting(value) && object::finalizers(value).any(|known| known == finalizer);
    if kind.is(BuiltIn::Namespace) && object::is_deleting(value) {
        empty_namespace(objects, &key).await;
    } else if waits_for("orphan") {
        for child in dependents(objects, object::uid(value)) {
            let uid = object::uid(value).to_owned();
            objects.amend(&child, |child| disown(child, |owner| object::text(owner, "uid") == uid)).await;
        }
        objects.amend(&key, |object| drop_finalizer(object, "orphan")).await;
    } else if waits_for("foregroundDeletion") {
        delete_children_first(objects, &key, value).await;
    } else {
        check_owners(objects, kind, &key, value).await;
    }
}

fn dependents(objects: &Objects, uid: &str) -> Vec<Key> {
    objects.store.read().index.dependents(uid)
}

/// Deletes an object whose owners are all gone. If some are left, removes the references to the others.
async fn check_owners(objects: &Objects, kind: &Kind, key: &Key, value: &Value) {
    let (gone, left): (Vec<&Value>, Vec<&Value>) = {
        let visible = objects.store.read();
        object::owners(value).partition(|owner| is_gone(objects, &visible, key, owner))
    };
    if gone.is_empty() || object::is_deleting(value) {
        return;
    }
    if left.is_empty() {
        let options = DeleteOptions::collected(object::uid(value), Propagation::Background);
        report(objects.delete_key(kind, key, &options).await);
    } else {
        let gone: Vec<String> = gone.iter().map(|owner| object::text(owner, "uid").to_owned()).collect();
        objects
            .amend(key, |object| disown(object, |owner| gone.iter().any(|uid| uid == object::text(owner, "uid"))))
            .await;
    }
}

/// Whether an owner is gone. One of a kind that isn't served is assumed to exist.
fn is_gone(objects: &Objects, visible: &Visible, child: &Key, owner: &Value) -> bool {
    match visible.index.by_uid(object::text(owner, "uid")) {
        Some(found) => !found.namespace.is_empty() && found.namespace != child.namespace,
        None => objects.kinds.of_reference(object::text(owner, "apiVersion"), object::text(owner, "kind")).is_some(),
    }
}

async fn delete_children_first(objects: &Objects, key: &Key, value: &Value) {
    let uid = object::uid(value);
    let mut blocked = false;
    for child in dependents(objects, uid) {
        let (Some(found), Some(kind)) = (objects.store.get(&child), objects.kinds.stored_as(&child.resource)) else {
            continue;
        };
        let blocks = |owner: &Value| {
            object::text(owner, "uid") == uid && owner.get("blockOwnerDeletion").is_some_and(|blocks| blocks == true)
        };
        blocked |= object::owners(&found.value).any(blocks);
        if !object::is_deleting(&found.value) {
            let has_children = !dependents(objects, object::uid(&found.value)).is_empty();
            let propagation = if has_children { Propagation::Foreground } else { Propagation::Background };
            let options = DeleteOptions::collected(object::uid(&found.value), propagation);
            report(objects.delete_key(kind, &child, &options).await);
        }
    }
    // When the last child is gone, its deletion in the history makes the collector examine this owner again.
    let waits = blocked && dependents(objects, uid).iter().any(|child| objects.store.get(child).is_some());
    if !waits {
        objects.amend(key, |object| drop_finalizer(object, "foregroundDeletion")).await;
    }
}

async fn empty_namespace(objects: &Objects, key: &Key) {
    let inside = objects.store.read().index.in_namespace(&key.name);
    let deletions = inside.iter().filter_map(|child| {
        let (found, kind) = (objects.store.get(child)?, objects.kinds.stored_as(&child.resource)?);
        let options = DeleteOptions::collected(object::uid(&found.value), Propagation::Background);
        (!object::is_deleting(&found.value)).then_some(async move { objects.delete_key(kind, child, &options).await })
    });
    stream::iter(deletions).for_each_concurrent(CONCURRENT, |deletion| async { report(deletion.await) }).await;
    if objects.store.read().index.in_namespace(&key.name).is_empty() {
        let release = |namespace: &mut Value| drop(object::member(namespace, "spec").shift_remove("finalizers"));
        objects.amend(key, release).await;
    }
}

fn disown(child: &mut Value, gone: impl Fn(&Value) -> bool) {
    let metadata = object::metadata(child);
    if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
        owners.retain(|owner| !gone(owner));
        if owners.is_empty() {
            metadata.shift_remove("ownerReferences");
        }
    }
}

fn drop_finalizer(object: &mut Value, finalizer: &str) {
    let left = object::finalizers(object).filter(|known| *known != finalizer).map(str::to_owned).collect();
    object::set_finalizers(object, left);
}

async fn delete_old_events(objects: &Objects) {
    let kind = objects.kinds.built_in(BuiltIn::Event);
    let oldest = Timestamp::now() - EVENTS;
    let old: Vec<Key> = {
        let visible = objects.store.read();
        let events = visible.index.list(&kind.stored_as, None);
        let old = events.filter(|(_, stored)| last_seen(&stored.value).is_some_and(|seen| seen < oldest));
        old.map(|((namespace, name), _)| Objects::key(kind, Some(namespace), name)).collect()
    };
    let deletions = old.iter().map(|key| async move {
        report(objects.delete_key(kind, key, &DeleteOptions::default()).await);
    });
    stream::iter(deletions).for_each_concurrent(CONCURRENT, |deletion| deletion).await;
}

fn last_seen(event: &Value) -> Option<Timestamp> {
    let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    let times = times.iter().filter_map(|pointer| event.pointer(pointer)?.as_str()?.parse::<Timestamp>().ok());
    times.max()
}

/// Logs a refusal. 404 and 409 only mean that another client was faster, and 503 that the server is closing.
fn report<T>(outcome: Result<T, Failure>) {
    if let Err(failure) = outcome
        && !matches!(failure.code, 404 | 409 | 503)
    {
        tracing::warn!(
            reason = failure.reason,
            message = failure.message,
            "the garbage collector could not delete an object"
        );
    }
}
