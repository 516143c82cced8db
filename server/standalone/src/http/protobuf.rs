//! Protobuf bodies. `kubectl create` of most kinds and `kubectl auth …` send only protobuf.
//!
//! Only the fields that these commands set are read; answers are JSON. The field numbers are those of `generated.proto` in
//! k8s.io/api.

use base64::Engine;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// The type of a field.
enum Field {
    Text,
    /// Bytes, which are base64 in JSON.
    Bytes,
    Bool,
    Number,
    Message(Fields),
    /// Repeated strings.
    Texts,
    /// Repeated messages.
    Messages(Fields),
    /// A map from string to text.
    TextMap,
    /// A map from string to bytes.
    BytesMap,
}

/// Number, name in JSON and type of each field of a message.
type Fields = &'static [(u64, &'static str, Field)];

const META: Field = Field::Message(&[
    (1, "name", Field::Text),
    (2, "generateName", Field::Text),
    (3, "namespace", Field::Text),
    (5, "uid", Field::Text),
    (6, "resourceVersion", Field::Text),
    (11, "labels", Field::TextMap),
    (12, "annotations", Field::TextMap),
]);

const CONTAINER: Fields = &[
    (1, "name", Field::Text),
    (2, "image", Field::Text),
    (3, "command", Field::Texts),
    (4, "args", Field::Texts),
    (5, "workingDir", Field::Text),
    (7, "env", Field::Messages(&[(1, "name", Field::Text), (2, "value", Field::Text)])),
    (14, "imagePullPolicy", Field::Text),
];

const POD_SPEC: Field = Field::Message(&[
    (2, "containers", Field::Messages(CONTAINER)),
    (3, "restartPolicy", Field::Text),
    (4, "terminationGracePeriodSeconds", Field::Number),
    (5, "activeDeadlineSeconds", Field::Number),
]);

const SUBJECT: Fields =
    &[(1, "kind", Field::Text), (2, "apiGroup", Field::Text), (3, "name", Field::Text), (4, "namespace", Field::Text)];

fn fields(kind: &str) -> Option<Fields> {
    Some(match kind {
        "ConfigMap" => &[
            (1, "metadata", META),
            (2, "data", Field::TextMap),
            (3, "binaryData", Field::BytesMap),
            (4, "immutable", Field::Bool),
        ],
        "Secret" => &[
            (1, "metadata", META),
            (2, "data", Field::BytesMap),
            (3, "type", Field::Text),
            (4, "stringData", Field::TextMap),
            (5, "immutable", Field::Bool),
        ],
        "Namespace" | "ServiceAccount" => &[(1, "metadata", META)],
        "Job" => &[
            (1, "metadata", META),
            (
                2,
                "spec",
                Field::Message(&[
                    (1, "parallelism", Field::Number),
                    (2, "completions", Field::Number),
                    (3, "activeDeadlineSeconds", Field::Number),
                    (6, "template", Field::Message(&[(1, "metadata", META), (2, "spec", POD_SPEC)])),
                    (7, "backoffLimit", Field::Number),
                    (8, "ttlSecondsAfterFinished", Field::Number),
                    (10, "suspend", Field::Bool),
                ]),
            ),
        ],
        "Role" => &[
            (1, "metadata", META),
            (
                2,
                "rules",
                Field::Messages(&[
                    (1, "verbs", Field::Texts),
                    (2, "apiGroups", Field::Texts),
                    (3, "resources", Field::Texts),
                    (4, "resourceNames", Field::Texts),
                ]),
            ),
        ],
        "RoleBinding" => &[
            (1, "metadata", META),
            (2, "subjects", Field::Messages(SUBJECT)),
            (
                3,
                "roleRef",
                Field::Message(&[(1, "apiGroup", Field::Text), (2, "kind", Field::Text), (3, "name", Field::Text)]),
            ),
        ],
        "SelfSubjectAccessReview" => &[(
            2,
            "spec",
            Field::Message(&[
                (
                    1,
                    "resourceAttributes",
                    Field::Message(&[
                        (1, "namespace", Field::Text),
                        (2, "verb", Field::Text),
                        (3, "group", Field::Text),
                        (4, "version", Field::Text),
                        (5, "resource", Field::Text),
                        (6, "subresource", Field::Text),
                        (7, "name", Field::Text),
                    ]),
                ),
                (2, "nonResourceAttributes", Field::Message(&[(1, "path", Field::Text), (2, "verb", Field::Text)])),
            ]),
        )],
        "SelfSubjectRulesReview" => &[(2, "spec", Field::Message(&[(1, "namespace", Field::Text)]))],
        "SelfSubjectReview" => &[],
        "TokenReview" => &[(2, "spec", Field::Message(&[(1, "token", Field::Text), (2, "audiences", Field::Texts)]))],
        "DeleteOptions" => &[
            (1, "gracePeriodSeconds", Field::Number),
            (2, "preconditions", Field::Message(&[(1, "uid", Field::Text), (2, "resourceVersion", Field::Text)])),
            (4, "propagationPolicy", Field::Text),
            (5, "dryRun", Field::Texts),
        ],
        _ => return None,
    })
}

/// The object in a message with the `k8s\0` prefix.
pub(super) fn decode(body: &[u8]) -> Result<Value, Failure> {
    let broken = || Failure::bad_request("the body is not a Kubernetes protobuf message");
    let mut envelope = Reader(body.strip_prefix(b"k8s\0").ok_or_else(broken)?);
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    while let Some((number, value)) = envelope.next().map_err(|()| broken())? {
        match (number, value) {
            (1, Wire::Bytes(bytes)) => {
                let mut meta = Reader(bytes);
                while let Some((number, value)) = meta.next().map_err(|()| broken())? {
                    match (number, value) {
                        (1, Wire::Bytes(text)) => api_version = String::from_utf8_lossy(text).into_owned(),
                        (2, Wire::Bytes(text)) => kind = String::from_utf8_lossy(text).into_owned(),
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let known = fields(&kind).ok_or_else(|| Failure::unsupported_media_type(&["application/json"]))?;
    let Value::Object(object) = message(raw, known).map_err(|()| broken())? else { return Err(broken()) };
    let mut full = Map::new();
    full.insert("apiVersion".into(), api_version.into());
    full.insert("kind".into(), kind.into());
    full.extend(object);
    Ok(Value::Object(full))
}

fn message(bytes: &[u8], known: Fields) -> Result<Value, ()> {
    let mut object = Map::new();
    let mut reader = Reader(bytes);
    while let Some((number, wire)) = reader.next()? {
        let Some((_, name, field)) = known.iter().find(|(known, _, _)| *known == number) else { continue };
        let at = object.entry(*name);
        match (field, wire) {
            (Field::Bool, Wire::Number(value)) => drop(at.or_insert(json!(value != 0))),
            (Field::Number, Wire::Number(value)) => drop(at.or_insert(json!(value.cast_signed()))),
            // Go's encoder writes unset strings as empty ones.
            (Field::Text, Wire::Bytes([])) => {}
            (Field::Text, Wire::Bytes(bytes)) => drop(at.or_insert(text(bytes)?)),
            (Field::Bytes, Wire::Bytes(bytes)) => drop(at.or_insert(base64(bytes))),
            (Field::Message(inner), Wire::Bytes(bytes)) => drop(at.or_insert(message(bytes, inner)?)),
            (Field::Texts, Wire::Bytes(bytes)) => push(at.or_insert(json!([])), text(bytes)?),
            (Field::Messages(inner), Wire::Bytes(bytes)) => push(at.or_insert(json!([])), message(bytes, inner)?),
            (Field::TextMap, Wire::Bytes(bytes)) => {
                let entry = message(bytes, &[(1, "key", Field::Text), (2, "value", Field::Text)])?;
                set(at.or_insert(json!({})), &entry, json!(""));
            }
            (Field::BytesMap, Wire::Bytes(bytes)) => {
                let entry = message(bytes, &[(1, "key", Field::Text), (2, "value", Field::Bytes)])?;
                set(at.or_insert(json!({})), &entry, json!(""));
            }
            _ => return Err(()),
        }
    }
    Ok(Value::Object(object))
}

fn push(list: &mut Value, value: Value) {
    if let Value::Array(list) = list {
        list.push(value);
    }
}

fn set(map: &mut Value, entry: &Value, otherwise: Value) {
    if let Value::Object(map) = map {
        let key = entry.get("key").and_then(Value::as_str).unwrap_or_default();
        map.insert(key.to_owned(), entry.get("value").cloned().unwrap_or(otherwise));
    }
}

fn text(bytes: &[u8]) -> Result<Value, ()> {
    std::str::from_utf8(bytes).map(Value::from).map_err(drop)
}

fn base64(bytes: &[u8]) -> Value {
    base64::engine::general_purpose::STANDARD.encode(bytes).into()
}

enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Reads the fields of a message one by one.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(u64, Wire<'a>)>, ()> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            1 => Wire::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.number()?).map_err(drop)?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Bytes(self.take(4)?),
            _ => return Err(()),
        };
        Ok(Some((tag >> 3, wire)))
    }

    fn number(&mut self) -> Result<u64, ()> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.0.split_first().ok_or(())?;
            self.0 = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ()> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(())?;
        self.0 = rest;
        Ok(taken)
    }
}
