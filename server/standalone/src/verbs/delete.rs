//! Deleting objects: preconditions, finalizers, grace periods, and what shall happen to dependents.

use serde_json::{Value, json};

use super::update::may_go;
use super::{Objects, item, write_failure};
use crate::failure::{Cause, Failure};
use crate::http::query::{Query, dry_run, not_supported};
use crate::http::route::Target;
use crate::kind::{BuiltIn, Kind};
use crate::object;
use crate::store::{Key, WriteError};

/// Seconds a running pod gets to end, if it doesn't say.
const POD_GRACE: i64 = 30;

/// Seconds; a longer grace period means the same and would leave the calendar.
const LONGEST_GRACE: i64 = 365 * 24 * 3600;
/// Namespaces that always exist.
const PERMANENT: [&str; 3] = ["default", "kube-public", "kube-system"];

#[derive(Debug, Default, Clone)]
pub(crate) struct DeleteOptions {
    uid: Option<String>,
    resource_version: Option<String>,
    propagation: Option<Propagation>,
    grace: Option<i64>,
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// What became of a deleted object.
pub(crate) enum Deleted {
    Gone(Value),
    /// Something still holds it: a finalizer or its grace period.
    Ending(Value),
}

impl DeleteOptions {
    pub(crate) fn parse(body: &Value, query: &Query) -> Result<Self, Failure> {
        let propagation =
            body.get("propagationPolicy").and_then(Value::as_str).or_else(|| query.get("propagationPolicy"));
        let propagation = match propagation {
            None => None,
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                return Err(not_supported("propagationPolicy", other, "\"Background\", \"Foreground\", \"Orphan\""));
            }
        };
        let given = |path: &str| body.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let grace = body.get("gracePeriodSeconds").and_then(Value::as_i64);
        let grace = if grace.is_some() { grace } else { query.number("gracePeriodSeconds")? };
        if grace.is_some_and(|grace| grace < 0) {
            let cause = Cause::invalid("gracePeriodSeconds", &json!(grace), "must be greater than or equal to 0");
            return Err(Failure::invalid_options("DeleteOptions", &[cause]));
        }
        let dry = body.pointer("/dryRun/0").and_then(Value::as_str).or_else(|| query.get("dryRun"));
        Ok(Self {
            uid: given("/preconditions/uid"),
            resource_version: given("/preconditions/resourceVersion"),
            propagation,
            grace,
            dry_run: dry_run(dry)?,
        })
    }

    /// For the garbage collector: exactly this object, and its dependents in turn.
    pub(crate) fn collected(uid: &str, propagation: Propagation) -> Self {
        Self { uid: Some(uid.to_owned()), propagation: Some(propagation), ..Self::default() }
    }

    pub(crate) fn propagation_given(&self) -> bool {
        self.propagation.is_some()
    }
}

impl Objects {
    pub(crate) async fn delete(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted, Failure> {
        let (key, name) = item(target)?;
        let kind = self.storage_kind(&target.kind);
        if kind.is(BuiltIn::Namespace) && PERMANENT.contains(&name) {
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
            let marked = marked(kind, &current.value, options);
            let ends = may_go(&marked);
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

/// The object as it stands once it is asked to go.
fn marked(kind: &Kind, current: &Value, options: &DeleteOptions) -> Value {
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
    let grace = grace(kind, current, options).min(LONGEST_GRACE);
    let earlier = current.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    let first = !object::is_deleting(current);
    if first || earlier.is_some_and(|earlier| grace < earlier) {
        let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(grace);
        let metadata = object::metadata(&mut next);
        metadata.insert("deletionTimestamp".into(), at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into());
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

/// Only a pod that runs somewhere needs time; everything else goes at once.
fn grace(kind: &Kind, current: &Value, options: &DeleteOptions) -> i64 {
    let scheduled = current.pointer("/spec/nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    let ended = matches!(current.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"));
    if !kind.is(BuiltIn::Pod) || !scheduled || ended {
        return 0;
    }
    let own = current.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    options.grace.or(own).unwrap_or(POD_GRACE)
}
