//! What is written at start, before the first request: the namespaces of every cluster, the CustomResourceDefinitions as
//! objects that clients can read, and the defaults that a newer definition has added.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::kind::{BuiltIn, Kind};
use crate::request::{Query, Target, WriteOptions};
use crate::store::{Key, Stored};
use crate::verbs::{Objects, PERMANENT_NAMESPACES};
use crate::{admission, object, schema};

pub(crate) async fn ensure(objects: &Objects, crds: &[CustomResourceDefinition]) -> Result<(), Failure> {
    namespaces(objects).await?;
    definitions(objects, crds).await?;
    defaults(objects).await
}

async fn namespaces(objects: &Objects) -> Result<(), Failure> {
    let kind = objects.kinds.built_in(BuiltIn::Namespace);
    let options = WriteOptions::parse(&Query::parse("fieldManager=kubeonkube"), None)?;
    for name in PERMANENT_NAMESPACES {
        let target = Target { kind: kind.clone(), namespace: None, name: None, subresource: None };
        let body = admission::type_checked(kind, json!({"metadata": {"name": name}}))?;
        match objects.create(&target, body, &options, None).await {
            Err(failure) if failure.reason != "AlreadyExists" => return Err(failure),
            _ => {}
        }
    }
    Ok(())
}

async fn definitions(objects: &Objects, crds: &[CustomResourceDefinition]) -> Result<(), Failure> {
    let kind = objects.kinds.built_in(BuiltIn::Definition);
    let mut wanted = Vec::new();
    for crd in crds {
        let mut definition = serde_json::to_value(crd).map_err(|error| Failure::internal(error.to_string()))?;
        let key = Objects::key(kind, None, object::name(&definition));
        wanted.push(key.name.clone());
        let old = objects.store.get(&key);
        established(&mut definition, crd, old.as_deref());
        if old.as_ref().is_none_or(|old| old.value != definition) {
            write(objects, key, old.map(|old| old.revision), Some(definition)).await?;
        }
    }
    for gone in
        all(objects, kind).iter().filter(|stored| !wanted.iter().any(|name| name == object::name(&stored.value)))
    {
        let key = Objects::key(kind, None, object::name(&gone.value));
        write(objects, key, Some(gone.revision), None).await?;
    }
    Ok(())
}

/// Adds the metadata and the status that an API server gives to a definition it has accepted.
fn established(definition: &mut Value, crd: &CustomResourceDefinition, old: Option<&Stored>) {
    let kept = |field: &str| old.and_then(|old| old.value.get("metadata")?.get(field).cloned());
    let uid = kept("uid").unwrap_or_else(|| uuid::Uuid::new_v4().to_string().into());
    let created = kept("creationTimestamp").unwrap_or_else(|| object::now().into());
    let revision = kept("resourceVersion");
    let metadata = object::metadata(definition);
    metadata.insert("uid".into(), uid);
    metadata.insert("creationTimestamp".into(), created.clone());
    metadata.insert("generation".into(), 1.into());
    metadata.extend(revision.map(|revision| ("resourceVersion".to_owned(), revision)));
    let stored: Vec<_> =
        crd.spec.versions.iter().filter(|version| version.storage).map(|version| &version.name).collect();
    let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason, "message": "installed with the program", "lastTransitionTime": created});
    let conditions = [condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")];
    definition["status"] =
        json!({"acceptedNames": definition["spec"]["names"], "storedVersions": stored, "conditions": conditions});
}

/// Fills defaults into stored objects. An API server does it at each read; here the definitions change only between two
/// starts, so once is enough.
async fn defaults(objects: &Objects) -> Result<(), Failure> {
    for kind in objects.kinds.all() {
        let Some(custom) = kind.custom() else { continue };
        for stored in all(objects, kind) {
            let mut filled = stored.value.clone();
            schema::fill_defaults(&custom.schema, &mut filled);
            if filled != stored.value {
                let namespace = kind.namespaced.then(|| object::namespace(&filled));
                let key = Objects::key(kind, namespace, object::name(&filled));
                write(objects, key, Some(stored.revision), Some(filled)).await?;
            }
        }
    }
    Ok(())
}

fn all(objects: &Objects, kind: &Kind) -> Vec<Arc<Stored>> {
    objects.store.read().index.list(&kind.stored_as, None).map(|(_, stored)| stored.clone()).collect()
}

async fn write(objects: &Objects, key: Key, expected: Option<u64>, put: Option<Value>) -> Result<(), Failure> {
    let written = objects.store.write(key, expected, put).await;
    written.map(drop).map_err(|error| Failure::internal(error.to_string()))
}
