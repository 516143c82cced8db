//! The built-in kinds and their Rust types. The types decide which fields exist and which type each one has.

use k8s_openapi::api::{batch, coordination, core, events, rbac};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as extensions;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A built-in kind, for the few places that treat the built-in kinds differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BuiltIn {
    Namespace,
    ConfigMap,
    Secret,
    Pod,
    ServiceAccount,
    /// `v1` Event, the form in which Events are stored.
    Event,
    /// `events.k8s.io/v1` Event, another view of the same objects.
    NewEvent,
    Job,
    Lease,
    Role,
    RoleBinding,
    /// CustomResourceDefinition.
    Definition,
}

/// Calls a function with the Rust type of a kind.
macro_rules! with_type {
    ($kind:expr, $function:ident, $argument:expr) => {
        match $kind {
            BuiltIn::Namespace => $function::<core::v1::Namespace>($argument),
            BuiltIn::ConfigMap => $function::<core::v1::ConfigMap>($argument),
            BuiltIn::Secret => $function::<core::v1::Secret>($argument),
            BuiltIn::Pod => $function::<core::v1::Pod>($argument),
            BuiltIn::ServiceAccount => $function::<core::v1::ServiceAccount>($argument),
            BuiltIn::Event => $function::<core::v1::Event>($argument),
            BuiltIn::NewEvent => $function::<events::v1::Event>($argument),
            BuiltIn::Job => $function::<batch::v1::Job>($argument),
            BuiltIn::Lease => $function::<coordination::v1::Lease>($argument),
            BuiltIn::Role => $function::<rbac::v1::Role>($argument),
            BuiltIn::RoleBinding => $function::<rbac::v1::RoleBinding>($argument),
            BuiltIn::Definition => $function::<extensions::CustomResourceDefinition>($argument),
        }
    };
}

impl BuiltIn {
    /// Reads `object` into its Rust type and back. Unknown fields are dropped; a wrong type is an error.
    pub(crate) fn retype(self, object: Value) -> serde_json::Result<Value> {
        with_type!(self, round_trip, object)
    }

    /// Adds the schema of the kind to `generator` and returns a reference to it.
    pub(crate) fn schema(self, generator: &mut SchemaGenerator) -> Schema {
        with_type!(self, subschema, generator)
    }
}

fn round_trip<T: Serialize + DeserializeOwned>(object: Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(object)?)
}

fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
