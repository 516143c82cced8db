//! OpenAPI v3 documents with as much as kubectl needs for `apply`, `edit` and `explain`. They declare `fieldValidation`, so
//! kubectl leaves the validation to the server. The v2 document is empty: kubectl reads it before it sends the objects of a `kind:
//! List`, or an object of an unknown kind, and skips its own validation of what the document doesn't contain.

use std::collections::HashMap;

use bytes::Bytes;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::answer::Reply;
use crate::kind::{Kind, Kinds, Nature, group_version};

/// The v2 document in JSON, and its Content-Type in protobuf, which kubectl asks for.
const V2: &str = r#"{"swagger":"2.0","info":{"title":"kubeonkube","version":"v1.36.4"},"paths":{}}"#;
const V2_PROTOBUF_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The same in protobuf, with the field numbers of `openapiv2/OpenAPIv2.proto` in github.com/google/gnostic-models.
const V2_PROTOBUF: &[u8] = b"\x0a\x032.0\x12\x15\x0a\x0akubeonkube\x12\x07v1.36.4\x42\x00";

/// The v2 document, in the encoding that this Accept header names. Older clients write an `@` into the name of the type.
pub(super) fn v2(accept: Option<&str>) -> Reply {
    if accept.is_some_and(|accept| accept.replace('@', ".").contains(V2_PROTOBUF_TYPE)) {
        Reply::bytes(Bytes::from_static(V2_PROTOBUF)).with_content_type(V2_PROTOBUF_TYPE)
    } else {
        Reply::bytes(Bytes::from_static(V2.as_bytes())).with_content_type("application/json")
    }
}

/// All documents. They are made once, because kinds don't change while the server runs.
pub(super) struct Documents {
    index: Value,
    by_path: HashMap<String, Bytes>,
}

impl Documents {
    pub(super) fn new(kinds: &Kinds) -> Self {
        let (mut paths, mut by_path) = (Map::new(), HashMap::new());
        for (group, versions) in kinds.groups() {
            for version in versions {
                let path = path(group, version);
                let document = Bytes::from(document(kinds, group, version).to_string());
                let hash: String =
                    Sha256::digest(&document).iter().take(16).map(|byte| format!("{byte:02X}")).collect();
                let url = format!("/openapi/v3/{path}?hash={hash}");
                paths.insert(path.clone(), json!({"serverRelativeURL": url}));
                by_path.insert(path, document);
            }
        }
        Self { index: json!({"paths": paths}), by_path }
    }

    pub(super) fn index(&self) -> &Value {
        &self.index
    }

    pub(super) fn document(&self, group: &str, version: &str) -> Option<Bytes> {
        self.by_path.get(&path(group, version)).cloned()
    }
}

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

fn document(kinds: &Kinds, group: &str, version: &str) -> Value {
    let mut settings = SchemaSettings::openapi3();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let (mut paths, mut named) = (Map::new(), Map::new());
    for kind in kinds.in_group_version(group, version) {
        paths.insert(format!("/{}", item_path(kind)), operations(kind));
        match &kind.nature {
            Nature::BuiltIn(built_in) => drop(built_in.schema(&mut generator)),
            Nature::Empty => {
                let schema = json!({"type": "object", "description": "Standalone mode has no objects of this kind.",
                    "x-kubernetes-group-version-kind": [identity(kind)]});
                named.insert(custom_name(kind), schema);
            }
            Nature::Custom(custom) => {
                let mut schema = custom.schema.clone();
                schema["x-kubernetes-group-version-kind"] = json!([identity(kind)]);
                named.insert(custom_name(kind), schema);
            }
        }
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    schemas.extend(named);
    // Clients find the schema of a kind by this extension, which the schemas of the Rust types lack.
    for kind in kinds.in_group_version(group, version) {
        let suffix = format!(".{}", kind.kind);
        let own = |name: &str| name.ends_with(&suffix) && name.split('.').rev().nth(1) == Some(kind.version.as_str());
        if let Some((_, schema)) = schemas.iter_mut().find(|(name, _)| own(name)) {
            schema["x-kubernetes-group-version-kind"] = json!([identity(kind)]);
        }
    }
    let title = format!("kubeonkube {}", group_version(group, version));
    json!({"openapi": "3.0.0", "info": {"title": title, "version": "v1.36.4"}, "paths": paths, "components": {"schemas": schemas}})
}

fn item_path(kind: &Kind) -> String {
    let namespace = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
    format!("{}{namespace}/{}/{{name}}", path(&kind.group, &kind.version), kind.plural)
}

fn operations(kind: &Kind) -> Value {
    let parameters: Vec<Value> = ["dryRun", "fieldManager", "fieldValidation"]
        .into_iter()
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string"}}))
        .collect();
    let operation = |parameters: &[Value]| {
        json!({"parameters": parameters, "x-kubernetes-group-version-kind": identity(kind),
            "responses": {"200": {"description": "OK"}}})
    };
    json!({"get": operation(&[]), "put": operation(&parameters), "patch": operation(&parameters), "delete": operation(&[])})
}

fn identity(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

/// `io.clay.kubeonkube.v1alpha1.Cluster`: with the group reversed, as for built-in kinds.
fn custom_name(kind: &Kind) -> String {
    let reversed: Vec<&str> = kind.group.split('.').rev().collect();
    format!("{}.{}.{}", reversed.join("."), kind.version, kind.kind)
}
