//! Changing objects. PUT and each kind of PATCH read the object, compute the new one, and write it if the object is still
//! at the revision that was read. Otherwise they start again.

use serde_json::Value;

use super::objects::{Objects, Written, item, strictly_refused, unknown_fields, write_failure};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::fields::{apply, managed};
use crate::kind::Kind;
use crate::request::{Target, UnknownFields, WriteOptions};
use crate::store::{Key, WriteError};
use crate::{admission, events, limits, object, patch};

/// The body of a PATCH.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    Merge(Value),
    Json(Value),
    Strategic(Value),
    /// Server-side apply.
    Apply(Value),
}

impl Patch {
    /// What a refusal of the patched object quotes: the object, or a strategic patch itself, as Go prints a map.
    fn quoted(&self, patched: &Value) -> String {
        if let Self::Strategic(patch) = self {
            return patch::in_go(patch);
        }
        let mut patched = patched.clone();
        patched.sort_all_objects();
        patched.to_string()
    }
}

/// The kind of a change, on which the handling of field ownership and unknown fields depends.
enum Change<'a> {
    Replace(&'a Value),
    Patch(&'a Patch),
}

impl Objects {
    pub(crate) async fn replace(
        &self,
        target: &Target,
        body: Value,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        limits::check_shape(&body)?;
        let body = admission::type_checked(&target.kind, body)?;
        let (_, name) = item(target)?;
        check_name(&body, name)?;
        self.change(target, &Change::Replace(&body), options).await
    }

    pub(crate) async fn patch(
        &self,
        target: &Target,
        patch: &Patch,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        if let Patch::Apply(config) = patch {
            limits::check_shape(config)?;
            apply::check(&target.kind, config, options)?;
            let (key, _) = item(target)?;
            if target.subresource.is_none() && self.store.get(&key).is_none() {
                match self.apply_new(target, config, options).await {
                    // Another client has just created it: apply onto that object.
                    Err(failure) if failure.reason == "AlreadyExists" => {}
                    outcome => return outcome,
                }
            }
        } else if options.force.is_some() {
            let cause = Cause::forbidden("force", "may not be specified for non-apply patch");
            return Err(Failure::invalid_options("PatchOptions", &[cause]));
        }
        self.change(target, &Change::Patch(patch), options).await
    }

    async fn apply_new(&self, target: &Target, config: &Value, options: &WriteOptions) -> Result<Written, Failure> {
        let mut body = config.clone();
        let (_, name) = item(target)?;
        let metadata = object::metadata(&mut body);
        metadata.shift_remove("resourceVersion");
        metadata.insert("name".into(), name.into());
        if let (_, unknown) = admission::shaped(&target.kind, body.clone())?
            && let Some(field) = unknown.first()
        {
            return Err(apply::undeclared(&target.kind, config, field));
        }
        self.create(target, body, options, Some(config)).await
    }

    async fn change(&self, target: &Target, change: &Change<'_>, options: &WriteOptions) -> Result<Written, Failure> {
        let (key, name) = item(target)?;
        let kind = self.storage_kind(&target.kind);
        loop {
            let current = self.store.get(&key).ok_or_else(|| Failure::not_found(&target.kind, name))?;
            let mut warnings = Vec::new();
            let candidate = self.candidate(target, &current.value, change, options, &mut warnings)?;
            let next = admitted_update(&kind, target, &current.value, candidate, change, options, &mut warnings)?;
            let ends = object::is_deleting(&next) && is_removable(&next);
            if next == current.value && !ends || options.dry_run {
                return Ok(Written { object: next, created: false, warnings });
            }
            let put = (!ends).then_some(next);
            match self.store.write(key.clone(), Some(current.revision), put).await {
                Ok(stored) => return Ok(Written { object: stored.value.clone(), created: false, warnings }),
                // The next round uses the new object and fails if the client sent a resourceVersion.
                Err(WriteError::Raced) => {}
                Err(error) => return Err(write_failure(&error)),
            }
        }
    }

    /// A change by the server itself: no validation, and the generation stays. Does nothing if the object is gone.
    pub(crate) async fn amend(&self, key: &Key, change: impl Fn(&mut Value)) {
        while let Some(current) = self.store.get(key) {
            let mut next = current.value.clone();
            change(&mut next);
            let ends = object::is_deleting(&next) && is_removable(&next);
            if next == current.value && !ends {
                return;
            }
            match self.store.write(key.clone(), Some(current.revision), (!ends).then_some(next)).await {
                Err(WriteError::Raced) => {}
                Ok(_) | Err(WriteError::Closed) => return,
                Err(error) => {
                    tracing::error!(%error, resource = %key.resource, name = key.name, "the garbage collector could not change an object");
                    return;
                }
            }
        }
    }

    /// The object as the client wants it, in its stored form.
    fn candidate(
        &self,
        target: &Target,
        current: &Value,
        change: &Change<'_>,
        options: &WriteOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Value, Failure> {
        let shown = events::outward(&target.kind, current);
        let name = object::name(current);
        let candidate = match change {
            Change::Replace(body) => (*body).clone(),
            Change::Patch(Patch::Apply(config)) => {
                apply::applied(&target.kind, &shown, config, options, target.subresource.as_deref())?
            }
            Change::Patch(Patch::Merge(patch)) => patch::merge(shown.into_owned(), patch),
            Change::Patch(Patch::Json(patch)) => patch::json(shown.into_owned(), patch)?,
            Change::Patch(Patch::Strategic(patch)) => patch::strategic(&target.kind, shown.into_owned(), patch)?,
        };
        limits::check_shape(&candidate)?;
        let candidate = match change {
            Change::Replace(_) => candidate,
            Change::Patch(_) => admission::type_checked(&target.kind, candidate)?,
        };
        let quoted = match change {
            Change::Patch(patch) if options.unknown_fields == UnknownFields::Refuse => patch.quoted(&candidate),
            _ => String::new(),
        };
        let (mut candidate, unknown) = admission::shaped(&target.kind, candidate)?;
        match change {
            Change::Patch(Patch::Apply(config)) => {
                if let Some(field) = unknown.first() {
                    return Err(apply::undeclared(&target.kind, config, field));
                }
            }
            Change::Replace(_) => unknown_fields(&target.kind, &unknown, options.unknown_fields, warnings)?,
            Change::Patch(_) => {
                if let Some(why) = strictly_refused(&unknown, options.unknown_fields, warnings) {
                    // Like the API server, it names no object.
                    let causes = [Cause::invalid("patch", &quoted.into(), &why)];
                    return Err(Failure::invalid_named("", "", "", "", &causes));
                }
            }
        }
        self.place(target, &mut candidate)?;
        check_name(&candidate, name)?;
        Ok(candidate)
    }
}

fn check_name(object: &Value, name: &str) -> Result<(), Failure> {
    let given = object::name(object);
    if given == name {
        return Ok(());
    }
    let message = format!("the name of the object ({given}) does not match the name on the URL ({name})");
    Err(Failure::bad_request(message))
}

/// Whether a deleted object can be removed: it has no finalizer and no grace period.
pub(super) fn is_removable(object: &Value) -> bool {
    let held_by_namespace =
        object.pointer("/spec/finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
            && object::text(object, "kind") == "Namespace";
    let grace = object.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
    object::finalizers(object).next().is_none() && !held_by_namespace && grace == 0
}

/// The object to store: checks preconditions, restores what the client can't change, fills in defaults, validates, and
/// records field ownership.
fn admitted_update(
    kind: &Kind,
    target: &Target,
    current: &Value,
    mut candidate: Value,
    change: &Change<'_>,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Value, Failure> {
    let (name, subresource) = (object::name(current), target.subresource.as_deref());
    precondition(kind, name, current, &candidate)?;
    let manual = candidate.pointer("/metadata/managedFields").cloned();
    if matches!(subresource, Some("status" | "finalize")) {
        let part = if subresource == Some("finalize") { "spec" } else { "status" };
        let mut whole = current.clone();
        take(&mut whole, &mut candidate, part);
        candidate = whole;
    } else if kind.status {
        let mut kept = current.clone();
        take(&mut candidate, &mut kept, "status");
    }
    let metadata = object::metadata(&mut candidate);
    for field in object::SERVER_FIELDS {
        match current.pointer(&format!("/metadata/{field}")) {
            Some(value) => drop(metadata.insert(field.into(), value.clone())),
            None => drop(metadata.shift_remove(field)),
        }
    }
    let mut next = admission::admitted(kind, Some(current), candidate, warnings)?;
    if kind.generation && !admission::same_spec(current, &next) {
        let generation = current.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
        object::metadata(&mut next).insert("generation".into(), (generation + 1).into());
    }
    if matches!(change, Change::Patch(Patch::Apply(_))) {
        managed::set(&mut next, manual);
    } else {
        managed::take_manual(&mut next, current, manual.as_ref());
        managed::after_update(kind, Some(current), &mut next, options, subresource);
    }
    limits::check_size(&next, Some(current))?;
    Ok(next)
}

fn precondition(kind: &Kind, name: &str, current: &Value, candidate: &Value) -> Result<(), Failure> {
    let uid = object::uid(candidate);
    if !uid.is_empty() && uid != object::uid(current) {
        let why =
            format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", object::uid(current));
        return Err(Failure::conflict(kind, name, &why));
    }
    let version = object::meta(candidate, "resourceVersion");
    if version.is_empty() {
        if kind.custom().is_some() {
            let cause = Cause::invalid("metadata.resourceVersion", &0.into(), "must be specified for an update");
            return Err(Failure::invalid(kind, name, &[cause]));
        }
    } else if version.parse::<u64>().is_err() {
        return Err(Failure::bad_request(format!("invalid resource version \"{version}\": must be a number")));
    } else if version != object::meta(current, "resourceVersion") {
        return Err(Failure::stale(kind, name));
    }
    Ok(())
}

/// Replaces `part` of `to` by that of `from`. If `from` has none, it is removed.
fn take(to: &mut Value, from: &mut Value, part: &str) {
    let taken = from.as_object_mut().and_then(|map| map.shift_remove(part));
    if let Value::Object(to) = to {
        match taken {
            Some(value) => drop(to.insert(part.into(), value)),
            None => drop(to.shift_remove(part)),
        }
    }
}
