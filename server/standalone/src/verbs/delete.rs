//! Deleting objects: preconditions, finalizers, grace periods and propagation to dependents.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::objects::{Objects, item, write_failure};
use super::update::is_removable;
use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};
use crate::object;
use crate::request::{DeleteOptions, Propagation, Target};
use crate::store::{Key, WriteError};

/// The grace period of a running pod, in seconds, if neither the pod nor the request has one.
const POD_GRACE: i64 = 30;
/// The longest grace period, in seconds. Adding a much longer one to a time would overflow.
const LONGEST_GRACE: i64 = 365 * 24 * 3600;
/// Namespaces that always exist. They are created at start, and deleting them is refused.
pub(crate) const PERMANENT_NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-system"];

/// The outcome of a deletion, with the object.
pub(crate) enum Deleted {
    Gone(Value),
    /// A finalizer or the grace period still keeps the object.
    Ending(Value),
}

impl Objects {
    pub(crate) async fn delete(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted, Failure> {
        let (key, name) = item(target)?;
        let kind = self.storage_kind(&target.kind);
        if kind.is(BuiltIn::Namespace) && PERMANENT_NAMESPACES.contains(&name) {
            return Err(Failure::forbidden(format!(
                "namespaces \"{name}\" is forbidden: this namespace may not be deleted"
            )));
        }
        self.delete_key(&kind, &key, options).await
    }

    pub(crate) async fn delete_key(&self, kind: &Kind, key: &Key, options: &DeleteOptions) -> Result<Deleted, Failure> {
        loop {
            let current = self.store.get(key).ok_or_else(|| Failure::not_found(kind, &key.name))?;
            check(kind, &key.name, &current.value, options)?;
            let marked = marked_deleted(kind, &current.value, options);
            let ends = is_removable(&marked);
            if options.dry_run || (!ends && marked == current.value) {
                return Ok(if ends { Deleted::Gone(current.value.clone()) } else { Deleted::Ending(marked) });
            }
            let put = (!ends).then_some(marked);
            match self.store.write(key.clone(), Some(current.revision), put).await {
                Ok(stored) if ends => return Ok(Deleted::Gone(stored.value.clone())),
                Ok(stored) => return Ok(Deleted::Ending(stored.value.clone())),
                Err(WriteError::Raced) => {}
                Err(error) => return Err(write_failure(&error)),
            }
        }
    }
}

fn check(kind: &Kind, name: &str, current: &Value, options: &DeleteOptions) -> Result<(), Failure> {
    let checks = [("UID", &options.uid, "uid"), ("ResourceVersion", &options.resource_version, "resourceVersion")];
    for (title, wanted, field) in checks {
        let found = object::meta(current, field);
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != found) {
            let why = format!(
                "the {title} in the precondition ({wanted}) does not match the {title} in record ({found}). The object might have been deleted and then recreated"
            );
            return Err(Failure::conflict(kind, name, &why).about(name, &kind.group, &kind.kind));
        }
    }
    Ok(())
}

/// The object with a deletion timestamp and the finalizer of its propagation policy.
fn marked_deleted(kind: &Kind, current: &Value, options: &DeleteOptions) -> Value {
    let mut next = current.clone();
    let mut finalizers: Vec<String> = object::finalizers(current).map(str::to_owned).collect();
    let wanted = options.propagation.or_else(|| kind.is(BuiltIn::Job).then_some(Propagation::Orphan));
    if let Some(propagation) = wanted {
        let wanted = match propagation {
            Propagation::Background => None,
            Propagation::Foreground => Some("foregroundDeletion"),
            Propagation::Orphan => Some("orphan"),
        };
        finalizers.retain(|known| {
            !matches!(known.as_str(), "foregroundDeletion" | "orphan") || Some(known.as_str()) == wanted
        });
        if let Some(wanted) = wanted.filter(|wanted| !finalizers.iter().any(|known| known == wanted)) {
            finalizers.push(wanted.to_owned());
        }
    }
    object::set_finalizers(&mut next, finalizers);
    // A pod's own grace period isn't validated, so it may be negative.
    let grace = grace(kind, current, options).clamp(0, LONGEST_GRACE);
    let earlier = current.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    let first = !object::is_deleting(current);
    if first || earlier.is_some_and(|earlier| grace < earlier) {
        let at = Timestamp::now() + SignedDuration::from_secs(grace);
        let metadata = object::metadata(&mut next);
        metadata.insert("deletionTimestamp".into(), object::time(at).into());
        metadata.insert("deletionGracePeriodSeconds".into(), grace.into());
        if first && kind.generation {
            let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or(0);
            metadata.insert("generation".into(), (generation + 1).into());
        }
    }
    if kind.is(BuiltIn::Namespace) {
        next["status"] = json!({"phase": "Terminating"});
    }
    next
}

/// The grace period in seconds. Only a pod that may be running on a node has one.
fn grace(kind: &Kind, current: &Value, options: &DeleteOptions) -> i64 {
    let scheduled = current.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    let ended = matches!(current.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"));
    if !kind.is(BuiltIn::Pod) || !scheduled || ended {
        return 0;
    }
    let own = current.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    options.grace.or(own).unwrap_or(POD_GRACE)
}
