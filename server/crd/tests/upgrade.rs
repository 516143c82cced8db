//! The definitions accept what the first ones accepted. Those are in `v0/`, with objects.

use std::path::Path;

use kube_cel::Validator;
use kubeonkube_crd as crd;
use serde_json::{Value, json};

fn of_the_first(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/v0").join(file)).unwrap()
}

fn schema(definition: &Value) -> &Value {
    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// The first and the current schema of both kinds, by kind.
fn schemas() -> Vec<(String, Value, Value)> {
    let files = ["clusters.yaml", "clusteroperations.yaml"];
    crd::all()
        .iter()
        .zip(files)
        .map(|(now, file)| {
            let first: Value = serde_saphyr::from_str(&of_the_first(file)).unwrap();
            let now = serde_json::to_value(now).unwrap();
            for same in ["/metadata/name", "/spec/scope", "/spec/versions/0/name", "/spec/versions/0/storage"] {
                assert_eq!(now.pointer(same), first.pointer(same), "{file}: {same}");
            }
            (now["spec"]["names"]["kind"].as_str().unwrap().to_owned(), schema(&first).clone(), schema(&now).clone())
        })
        .collect()
}

/// Collects where `now` refuses something that `first` accepts.
fn compare(first: &Value, now: &Value, at: &str, narrower: &mut Vec<String>) {
    let list = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    if now["type"] != first["type"] || (first["nullable"] == true && now["nullable"] != true) {
        narrower.push(format!("{at}: another type"));
    }
    for field in list(now, "required") {
        if !list(first, "required").contains(&field) {
            narrower.push(format!("{at}: {field} is required"));
        }
    }
    if now["enum"].is_array() {
        let missing = |value: &Value| !list(now, "enum").contains(value);
        if first["enum"].is_null() || list(first, "enum").iter().any(missing) {
            narrower.push(format!("{at}: other values"));
        }
    }
    for limit in ["pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"] {
        if !now[limit].is_null() && now[limit] != first[limit] {
            narrower.push(format!("{at}: {limit}"));
        }
    }
    for (field, first) in first["properties"].as_object().into_iter().flatten() {
        match now["properties"].get(field) {
            Some(now) => compare(first, now, &format!("{at}.{field}"), narrower),
            None => narrower.push(format!("{at}.{field} is gone")),
        }
    }
    if first["items"].is_object() {
        compare(&first["items"], &now["items"], &format!("{at}[]"), narrower);
    }
}

#[test]
fn nothing_that_was_valid_is_refused() {
    let mut narrower = Vec::new();
    for (kind, first, now) in schemas() {
        compare(&first, &now, &kind, &mut narrower);
    }
    assert!(narrower.is_empty(), "{narrower:#?}");
}

#[test]
fn a_narrower_schema_is_noticed() {
    let first =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "enum": ["x", "y"]}}});
    for (path, value) in [
        ("/properties/a/type", json!("integer")),
        ("/properties/a/maxLength", json!(5)),
        ("/properties/b/enum", json!(["x"])),
        ("/properties", json!({"a": {"type": "string"}})),
        ("/required", json!(["a"])),
    ] {
        let mut now = first.clone();
        now["properties"]["a"]["maxLength"] = Value::Null;
        now["required"] = json!([]);
        *now.pointer_mut(path).unwrap() = value;
        let mut narrower = Vec::new();
        compare(&first, &now, "x", &mut narrower);
        assert_eq!(narrower.len(), 1, "{path}: {narrower:?}");
    }
}

#[test]
fn older_objects_pass_the_rules_and_keep_their_fields() {
    let objects: Vec<Value> = serde_saphyr::from_multiple(&of_the_first("objects.yaml")).unwrap();
    let mut seen = 0;
    for (kind, first, now) in schemas() {
        for object in objects.iter().filter(|object| object["kind"] == kind.as_str()) {
            for schema in [&first, &now] {
                // As created, and as changed without a change of the spec.
                for before in [None, Some(object)] {
                    Validator::new().validate(schema, object, before).unwrap_or_else(|errors| panic!("{errors}"));
                }
            }
            let spec = &object["spec"];
            let read = match kind.as_str() {
                "Cluster" => {
                    serde_json::from_value(spec.clone()).map(|read: crd::ClusterSpec| serde_json::to_value(read))
                }
                _ => serde_json::from_value(spec.clone())
                    .map(|read: crd::ClusterOperationSpec| serde_json::to_value(read)),
            };
            let read = read.unwrap().unwrap();
            for (field, value) in spec.as_object().unwrap() {
                contains(&read[field], value, field);
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}

/// Asserts that `read` has everything that `written` has.
fn contains(read: &Value, written: &Value, at: &str) {
    match written {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| contains(&read[key], value, &format!("{at}.{key}")));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| contains(&read[n], item, &format!("{at}[{n}]")));
        }
        _ => assert_eq!(read, written, "{at}"),
    }
}
