//! The garbage collector: what goes when its owner or its namespace is gone.
//!
//! It follows the history like a watch does and looks at the objects a change concerns. At the start, and should it
//! ever fall behind, it looks at everything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::kind::{BuiltIn, Kind};
use crate::object;
use crate::store::{Change, Key, Visible};
use crate::verbs::{DeleteOptions, Objects, Propagation};

/// Objects looked at side by side, so that their writes share transactions.
const SIDE_BY_SIDE: usize = 64;
/// How long Events are kept after they were last seen.
const EVENTS: SignedDuration = SignedDuration::from_hours(1);
/// How often old Events are looked for.
const SWEEP: Duration = Duration::from_secs(60);

pub(crate) async fn run(objects: Arc<Objects>, shutdown: CancellationToken) {
    let mut revisions = objects.store.revisions();
    let (mut cursor, mut concerned) = {
        let visible = objects.store.read();
        (visible.revision, visible.index.all_keys().into_iter().collect::<BTreeSet<_>>())
    };
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        let examined = stream::iter(std::mem::take(&mut concerned));
        examined.for_each_concurrent(SIDE_BY_SIDE, |key| examine(&objects, key)).await;
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = sweep.tick() => forget_events(&objects).await,
            changed = revisions.changed() => {
                if changed.is_err() {
                    return;
                }
                let visible = objects.store.read();
                match visible.history.after(cursor) {
                    Ok(changes) => changes.for_each(|change| concerns(&objects, &visible, change, &mut concerned)),
                    Err(_) => concerned.extend(visible.index.all_keys()),
                }
                cursor = visible.revision;
            }
        }
    }
}

/// Adds the objects a change may have consequences for.
fn concerns(objects: &Objects, visible: &Visible, change: &Change, concerned: &mut BTreeSet<Key>) {
    if let Some(new) = &change.new
        && (object::is_deleting(&new.value) || object::owners(&new.value).next().is_some())
    {
        concerned.insert(change.key.clone());
    }
    let Some(old) = &change.old else {
        // Created while its namespace was being emptied: nobody has looked at it yet.
        if namespace_is_leaving(objects, visible, &change.key) {
            concerned.insert(change.key.clone());
        }
        return;
    };
    // Owners that wait for this child to go, or to forget them.
    let owners = object::owners(&old.value).filter_map(|owner| visible.index.by_uid(object::text(owner, "uid")));
    concerned.extend(owners.cloned());
    if change.new.is_none() {
        concerned.extend(visible.index.dependents(object::uid(&old.value)));
        if !change.key.namespace.is_empty() {
            concerned.insert(Objects::key(objects.kinds.built_in(BuiltIn::Namespace), None, &change.key.namespace));
        }
    }
}

fn namespace_is_leaving(objects: &Objects, visible: &Visible, key: &Key) -> bool {
    let namespace = Objects::key(objects.kinds.built_in(BuiltIn::Namespace), None, &key.namespace);
    let found = visible.index.get(&namespace);
    !key.namespace.is_empty() && found.is_none_or(|namespace| object::is_deleting(&namespace.value))
}

async fn examine(objects: &Objects, key: Key) {
    let Some(found) = objects.store.get(&key) else { return };
    let Some(kind) = objects.kinds.stored_as(&key.resource) else { return };
    let value = &found.value;
    let homeless = namespace_is_leaving(objects, &objects.store.read(), &key);
    if homeless && !object::is_deleting(value) {
        let options = DeleteOptions::collected(object::uid(value), Propagation::Background);
        report(objects.delete_key(kind, &key, &options).await.map(drop));
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
        judge_owners(objects, kind, &key, value).await;
    }
}

fn dependents(objects: &Objects, uid: &str) -> Vec<Key> {
    objects.store.read().index.dependents(uid)
}

/// Deletes an object whose owners are all gone, and forgets single owners that are.
async fn judge_owners(objects: &Objects, kind: &Kind, key: &Key, value: &Value) {
    let (gone, left): (Vec<&Value>, Vec<&Value>) = {
        let visible = objects.store.read();
        object::owners(value).partition(|owner| is_gone(objects, &visible, key, owner))
    };
    if gone.is_empty() || object::is_deleting(value) {
        return;
    }
    if left.is_empty() {
        let options = DeleteOptions::collected(object::uid(value), Propagation::Background);
        report(objects.delete_key(kind, key, &options).await.map(drop));
    } else {
        let gone: Vec<String> = gone.iter().map(|owner| object::text(owner, "uid").to_owned()).collect();
        objects
            .amend(key, |object| disown(object, |owner| gone.iter().any(|uid| uid == object::text(owner, "uid"))))
            .await;
    }
}

/// An owner of a kind that isn't served can't be judged, so it counts as there.
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
            report(objects.delete_key(kind, &child, &options).await.map(drop));
        }
    }
    // A child that went at once brings the owner here again.
    let still_there = blocked && dependents(objects, uid).iter().any(|child| objects.store.get(child).is_some());
    if !still_there {
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
    stream::iter(deletions)
        .for_each_concurrent(SIDE_BY_SIDE, |deletion| async { report(deletion.await.map(drop)) })
        .await;
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

async fn forget_events(objects: &Objects) {
    let kind = objects.kinds.built_in(BuiltIn::Event);
    let oldest = Timestamp::now() - EVENTS;
    let old: Vec<Key> = {
        let visible = objects.store.read();
        let events = visible.index.list(&kind.stored_as, None);
        let old = events.filter(|(_, stored)| last_seen(&stored.value).is_some_and(|seen| seen < oldest));
        old.map(|((namespace, name), _)| Objects::key(kind, Some(namespace), name)).collect()
    };
    let deletions = old.iter().map(|key| async move {
        report(objects.delete_key(kind, key, &DeleteOptions::default()).await.map(drop));
    });
    stream::iter(deletions).for_each_concurrent(SIDE_BY_SIDE, |deletion| deletion).await;
}

fn last_seen(event: &Value) -> Option<Timestamp> {
    let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    let times = times.iter().filter_map(|pointer| event.pointer(pointer)?.as_str()?.parse::<Timestamp>().ok());
    times.max()
}

/// Somebody else being faster is no news.
fn report(outcome: Result<(), crate::failure::Failure>) {
    if let Err(failure) = outcome
        && !matches!(failure.code, 404 | 409 | 503)
    {
        tracing::warn!(reason = failure.reason, message = failure.message, "the garbage collector was refused");
    }
}
