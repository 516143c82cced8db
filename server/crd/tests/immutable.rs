//! The spec of an operation is immutable, except for `cancel`. The rules are evaluated as in the API server.

use kube_cel::Validator;
use kubeonkube_crd as crd;
use serde_json::{Value, json};

fn schema() -> Value {
    let operation = crd::all().pop().expect("two definitions");
    serde_json::to_value(operation.spec.versions[0].schema.as_ref().and_then(|s| s.open_api_v3_schema.as_ref()))
        .unwrap()
}

fn operation(change: &Value) -> Value {
    let mut spec = json!({
        "cluster": "prod", "actionType": "playbook", "action": "ping.yml", "image": "example/kubespray:v2.28", "actionSource": "builtin",
        "extraArgs": "--limit a", "preHook": [{"actionType": "shell", "action": "true", "actionSource": "builtin"}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}
    });
    for (field, value) in change.as_object().unwrap() {
        match value {
            Value::Null => spec.as_object_mut().unwrap().shift_remove(field),
            value => spec.as_object_mut().unwrap().insert(field.clone(), value.clone()),
        };
    }
    json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "ClusterOperation", "metadata": {"name": "x"}, "spec": spec})
}

fn update(from: &Value, to: &Value) -> Result<(), String> {
    Validator::new().validate(&schema(), &operation(to), Some(&operation(from))).map_err(|errors| errors.to_string())
}

#[test]
fn no_field_can_be_changed_after_submission() {
    assert_eq!(update(&json!({}), &json!({})), Ok(()));
    for change in [
        json!({"cluster": "other"}),
        json!({"action": "scale.yml"}),
        json!({"actionType": "shell"}),
        json!({"actionSource": "configmap"}),
        json!({"image": "x"}),
        json!({"extraArgs": "--limit b"}),
        json!({"extraArgs": null}),
        json!({"preHook": []}),
        json!({"preHook": null}),
        json!({"postHook": [{"actionType": "shell", "action": "false"}]}),
        json!({"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}),
        json!({"activeDeadlineSeconds": 5}),
        json!({"expectedInputs": "00"}),
        json!({"actionSourceRef": {"namespace": "a", "name": "b"}}),
    ] {
        let field = change.as_object().unwrap().keys().next().unwrap().clone();
        let refused = update(&json!({}), &change).expect_err(&field);
        assert!(refused.contains(&format!("{field} can't be changed")), "{refused}");
    }
}

#[test]
fn cancel_can_be_set_and_never_reset() {
    let (absent, no, yes) = (json!({}), json!({"cancel": false}), json!({"cancel": true}));
    assert_eq!(update(&absent, &yes), Ok(()));
    assert_eq!(update(&no, &yes), Ok(()));
    assert_eq!(update(&yes, &yes), Ok(()));
    assert!(update(&yes, &no).unwrap_err().contains("stays cancelled"));
    assert!(update(&yes, &absent).is_err());
}
