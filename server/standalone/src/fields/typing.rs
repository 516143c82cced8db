//! The merge rules of lists and maps: as a whole, by key, or as a set.

use serde_json::Value;

use crate::kind::{Kind, Nature};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Merge<'a> {
    /// Replaced as a whole.
    Atomic,
    /// A list of distinct scalars.
    Set,
    /// A list of objects, identified by these fields.
    ByKey(Keys<'a>),
    /// A map whose members are merged one by one.
    Granular,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Keys<'a> {
    Known(&'static [&'static str]),
    Schema(&'a Value),
}

impl<'a> Keys<'a> {
    pub(crate) fn names(self) -> Vec<&'a str> {
        match self {
            Keys::Known(names) => names.to_vec(),
            Keys::Schema(list) => list.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        }
    }
}

/// The type information about a value inside an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Typing<'a> {
    /// The root of a custom resource. Its `metadata` has the built-in rules.
    Root(&'a Value),
    Schema(&'a Value),
    /// A field of a built-in kind, with its merge rule.
    BuiltIn(Merge<'a>),
}

impl<'a> Typing<'a> {
    pub(crate) fn of(kind: &'a Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) | Nature::Empty => Self::BuiltIn(Merge::Granular),
            Nature::Custom(custom) => Self::Root(&custom.schema),
        }
    }

    pub(crate) fn field(self, name: &str) -> Self {
        match self {
            Self::Root(_) if name == "metadata" => Self::BuiltIn(Merge::Granular),
            Self::Root(schema) | Self::Schema(schema) => {
                let declared = schema.get("properties").and_then(|all| all.get(name));
                Self::Schema(declared.or_else(|| schema.get("additionalProperties")).unwrap_or(&Value::Null))
            }
            Self::BuiltIn(_) => Self::BuiltIn(built_in(name)),
        }
    }

    pub(crate) fn item(self) -> Self {
        match self {
            Self::Root(schema) | Self::Schema(schema) => Self::Schema(schema.get("items").unwrap_or(&Value::Null)),
            Self::BuiltIn(_) => Self::BuiltIn(Merge::Granular),
        }
    }

    pub(crate) fn merge(self, value: &Value) -> Merge<'a> {
        match (self, value) {
            (Self::BuiltIn(Merge::Granular), Value::Array(_)) => Merge::Atomic,
            (Self::BuiltIn(Merge::ByKey(_) | Merge::Set), Value::Object(_)) => Merge::Granular,
            (Self::BuiltIn(merge), _) => merge,
            (Self::Root(schema) | Self::Schema(schema), Value::Object(_)) => {
                let atomic = schema.get("x-kubernetes-map-type").is_some_and(|map| map == "atomic");
                if atomic { Merge::Atomic } else { Merge::Granular }
            }
            (Self::Root(schema) | Self::Schema(schema), _) => {
                match (
                    schema.get("x-kubernetes-list-type").and_then(Value::as_str),
                    schema.get("x-kubernetes-list-map-keys"),
                ) {
                    (Some("set"), _) => Merge::Set,
                    (Some("map"), Some(keys)) => Merge::ByKey(Keys::Schema(keys)),
                    _ => Merge::Atomic,
                }
            }
        }
    }
}

/// Merge rules by field name. In the built-in kinds served here, a name has the same rule everywhere.
fn built_in(name: &str) -> Merge<'static> {
    const NAME: Merge<'static> = Merge::ByKey(Keys::Known(&["name"]));
    match name {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "resourceClaims" => NAME,
        "volumeMounts" => Merge::ByKey(Keys::Known(&["mountPath"])),
        "volumeDevices" => Merge::ByKey(Keys::Known(&["devicePath"])),
        "ports" => Merge::ByKey(Keys::Known(&["containerPort", "protocol"])),
        "hostAliases" | "podIPs" | "hostIPs" => Merge::ByKey(Keys::Known(&["ip"])),
        "topologySpreadConstraints" => Merge::ByKey(Keys::Known(&["topologyKey", "whenUnsatisfiable"])),
        "conditions" => Merge::ByKey(Keys::Known(&["type"])),
        "ownerReferences" => Merge::ByKey(Keys::Known(&["uid"])),
        "finalizers" => Merge::Set,
        "nodeSelector" | "selector" | "configMapKeyRef" | "secretKeyRef" | "fieldRef" | "resourceFieldRef"
        | "involvedObject" | "roleRef" | "matchLabelKeys" => Merge::Atomic,
        _ => Merge::Granular,
    }
}

/// The field that identifies the items of a built-in list in a strategic merge patch.
pub(crate) fn merge_key(list: &str) -> Option<&'static str> {
    match built_in(list) {
        Merge::ByKey(Keys::Known(keys)) => keys.first().copied(),
        _ => None,
    }
}

/// Whether a strategic merge patch merges this list of scalars instead of replacing it.
pub(crate) fn merges_as_set(list: &str) -> bool {
    built_in(list) == Merge::Set
}
