//! Jobs: the defaults, labels and rules of batch/v1.

use serde_json::{Map, Value, json};

use super::field::{default_to, unchanged};
use super::pod;
use crate::cause::Cause;
use crate::object;

pub(super) fn admit(old: Option<&Value>, job: &mut Value, causes: &mut Vec<Cause>) {
    let name = object::name(job).to_owned();
    if old.is_none() {
        identify(job, &name);
        job["status"] = json!({});
    }
    let spec = object::member(job, "spec");
    default_to(spec, "backoffLimit", 6);
    default_to(spec, "completionMode", "NonIndexed");
    default_to(spec, "suspend", false);
    default_to(spec, "manualSelector", false);
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        default_to(spec, "completions", 1);
    }
    default_to(spec, "parallelism", 1);
    let replacement = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    default_to(spec, "podReplacementPolicy", replacement);
    for field in ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"] {
        if let Some(value) = spec.get(field).filter(|value| value.as_i64().is_some_and(|number| number < 0)) {
            causes.push(Cause::invalid(format!("spec.{field}"), value, "must be greater than or equal to 0"));
        }
    }
    let template = object::member(spec.entry("template").or_insert(Value::Null), "spec");
    pod::fill(template);
    pod::checked(template, "spec.template.spec", causes);
    match template.get("restartPolicy").and_then(Value::as_str) {
        Some("Never" | "OnFailure") => {}
        // The default of a pod, `Always`, counts as no value.
        None | Some("" | "Always") => {
            let why = "valid values: \"OnFailure\", \"Never\"";
            causes.push(Cause::required("spec.template.spec.restartPolicy", why));
        }
        Some(other) => {
            let supported = "\"OnFailure\", \"Never\"";
            causes.push(Cause::not_supported("spec.template.spec.restartPolicy", &other.into(), supported));
        }
    }
    if name.len() > 63 {
        causes.push(Cause::invalid("spec.template.labels", &name.as_str().into(), "must be no more than 63 bytes"));
    }
    if let Some(old) = old {
        for field in
            ["completions", "selector", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"]
        {
            unchanged(old, job, &format!("/spec/{field}"), &format!("spec.{field}"), causes);
        }
    }
}

/// Sets the labels and the selector by which a Job finds its pods.
fn identify(job: &mut Value, name: &str) {
    let uid = object::uid(job).to_owned();
    let labels = |metadata: &mut Map<String, Value>| {
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        for prefix in ["", "batch.kubernetes.io/"] {
            labels[format!("{prefix}controller-uid")] = uid.as_str().into();
            labels[format!("{prefix}job-name")] = name.into();
        }
    };
    labels(object::metadata(job));
    let spec = object::member(job, "spec");
    labels(object::metadata(spec.entry("template").or_insert(Value::Null)));
    if spec.get("manualSelector") != Some(&Value::Bool(true)) {
        spec.insert("selector".into(), json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}));
    }
}
