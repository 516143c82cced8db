//! Creating objects.

use rand::Rng;
use serde_json::Value;

use super::objects::{Objects, Written, unknown_fields, write_failure};
use crate::admission::{self, names};
use crate::cause::Cause;
use crate::failure::Failure;
use crate::fields::{apply, managed};
use crate::kind::{BuiltIn, Kind};
use crate::request::{Target, WriteOptions};
use crate::store::WriteError;
use crate::{events, limits, object};

/// Attempts to find a free generated name, as many as in the API server.
const TRIES: usize = 8;

impl Objects {
    /// Creates an object. If it comes from a server-side apply, the manager owns exactly the fields in `applied`.
    pub(crate) async fn create(
        &self,
        target: &Target,
        body: Value,
        options: &WriteOptions,
        applied: Option<&Value>,
    ) -> Result<Written, Failure> {
        limits::check_shape(&body)?;
        let body = admission::type_checked(&target.kind, body)?;
        let kind = self.storage_kind(&target.kind);
        let mut warnings = Vec::new();
        let (mut object, unknown) = admission::shaped(&target.kind, body)?;
        unknown_fields(&target.kind, &unknown, options.unknown_fields, &mut warnings)?;
        if target.kind.is(BuiltIn::NewEvent) {
            let causes = events::check_new_form(&object);
            if !causes.is_empty() {
                return Err(Failure::invalid(&target.kind, object::name(&object), &causes));
            }
        }
        self.place(target, &mut object)?;
        if !object::meta(&object, "resourceVersion").is_empty() {
            return Err(Failure::bad_request("resourceVersion should not be set on objects to be created"));
        }
        self.namespace_accepts(target)?;
        let prefix = object::meta(&object, "generateName").to_owned();
        let generated = object::name(&object).is_empty();
        if generated && prefix.is_empty() {
            let cause = Cause::required("metadata.name", "name or generateName is required");
            return Err(Failure::invalid(&kind, "", &[cause]));
        }
        for _ in 0..TRIES {
            let mut candidate = object.clone();
            if generated {
                object::metadata(&mut candidate).insert("name".into(), generated_name(&prefix).into());
            }
            let candidate = prepared(&kind, candidate, options, applied, &mut warnings)?;
            let name = object::name(&candidate).to_owned();
            let key = Self::key(&kind, target.namespace.as_deref(), &name);
            let existing = self.store.get(&key);
            if let Some(existing) = &existing
                && !generated
            {
                return Err(Failure::already_exists(&target.kind, &name, object::is_deleting(&existing.value)));
            }
            if options.dry_run {
                return Ok(Written { object: candidate, created: true, warnings });
            }
            match self.store.write(key, None, Some(candidate)).await {
                Ok(stored) => return Ok(Written { object: stored.value.clone(), created: true, warnings }),
                Err(WriteError::Raced) if generated => {}
                Err(WriteError::Raced) => return Err(Failure::already_exists(&target.kind, &name, false)),
                Err(error) => return Err(write_failure(&error)),
            }
        }
        Err(Failure::already_exists(&target.kind, &prefix, false))
    }

    /// Sets `metadata.namespace` from the path. Another namespace in the object is a 400.
    pub(super) fn place(&self, target: &Target, object: &mut Value) -> Result<(), Failure> {
        let given = object::namespace(object);
        match &target.namespace {
            Some(namespace) if given.is_empty() || given == namespace => {
                let namespace = namespace.clone();
                object::metadata(object).insert("namespace".into(), namespace.into());
                Ok(())
            }
            Some(_) => Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            )),
            None => {
                object::metadata(object).shift_remove("namespace");
                Ok(())
            }
        }
    }

    fn namespace_accepts(&self, target: &Target) -> Result<(), Failure> {
        let Some(namespace) = &target.namespace else { return Ok(()) };
        let namespaces = self.kinds.built_in(BuiltIn::Namespace);
        let Some(found) = self.store.get(&Self::key(namespaces, None, namespace)) else {
            return Err(Failure::not_found(namespaces, namespace));
        };
        if object::is_deleting(&found.value) {
            let why = format!("namespace {namespace} is being terminated");
            let text = format!("{why}, so nothing new can be created in it");
            let cause = Cause::new("NamespaceTerminating", "metadata.namespace", text);
            let message = format!("unable to create new content in {why}");
            return Err(Failure::forbidden(message).with_causes(&[cause]));
        }
        Ok(())
    }
}

/// Sets the server's own metadata, fills in defaults and validates.
fn prepared(
    kind: &Kind,
    mut object: Value,
    options: &WriteOptions,
    applied: Option<&Value>,
    warnings: &mut Vec<String>,
) -> Result<Value, Failure> {
    let metadata = object::metadata(&mut object);
    for field in object::SERVER_FIELDS.into_iter().chain(["managedFields"]) {
        metadata.shift_remove(field);
    }
    metadata.insert("uid".into(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".into(), object::now().into());
    if kind.generation {
        metadata.insert("generation".into(), 1.into());
    }
    if kind.status
        && let Value::Object(map) = &mut object
    {
        map.shift_remove("status");
    }
    let mut object = admission::admitted(kind, None, object, warnings)?;
    match applied {
        Some(config) => apply::own_new(kind, &mut object, config, options),
        None => managed::after_update(kind, None, &mut object, options, None),
    }
    limits::check_size(&object, None)?;
    Ok(object)
}

fn generated_name(prefix: &str) -> String {
    let mut rng = rand::rng();
    let suffix: String =
        (0..5).map(|_| char::from(names::SUFFIX_LETTERS[rng.random_range(0..names::SUFFIX_LETTERS.len())])).collect();
    let room = names::LONGEST_GENERATED - suffix.len();
    let cut = prefix.char_indices().nth(room).map_or(prefix.len(), |(at, _)| at);
    format!("{}{suffix}", &prefix[..cut])
}
