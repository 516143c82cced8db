//! Jobs: the defaults, labels and rules of batch/v1.

use serde_json::{Value, json};

use super::field::{default_to, unchanged};
use super::pod;
use crate::cause::Cause;
use crate::object;

pub(super) fn admit(old: Option<&Value>, job: &mut Value, causes: &mut Vec<Cause>) {
    let name = object::name(job).to_owned();
    if old.is_none() {
        identify(job, &name, causes);
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

/// Sets the labels and the selector by which a Job finds its pods, unless the client chose them (`manualSelector`). A Job that a
/// client has read and creates again still has those of its last UID, and is refused.
fn identify(job: &mut Value, name: &str, causes: &mut Vec<Cause>) {
    const UID: &str = "batch.kubernetes.io/controller-uid";
    const LABELS: &str = "spec.template.metadata.labels";
    let uid = object::uid(job).to_owned();
    let generated =
        [("controller-uid", &*uid), ("job-name", name), (UID, &uid), ("batch.kubernetes.io/job-name", name)];
    // Unlike `Cause::invalid`, with the content: it is short.
    let invalid = |field: &str, value: &Value, why: &str| {
        Cause::new("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"))
    };
    let spec = object::member(job, "spec");
    let manual = spec.get("manualSelector") == Some(&Value::Bool(true));
    let template = object::member(spec.entry("template").or_insert(Value::Null), "metadata");
    let labels = template.entry("labels").or_insert_with(|| json!({}));
    if !manual {
        for (label, value) in generated {
            object::entries(labels).entry(label).or_insert(value.into());
        }
        for (label, value) in generated.iter().filter(|(label, value)| labels[label] != *value) {
            causes.push(invalid(&format!("{LABELS}[{label}]"), labels, &format!("must be '{value}'")));
        }
    }
    let labels = labels.clone();
    if !manual {
        let chosen = object::member(spec.entry("selector").or_insert(Value::Null), "matchLabels");
        chosen.entry(UID).or_insert(uid.as_str().into());
        if chosen.iter().any(|(label, value)| !generated.contains(&(label, value.as_str().unwrap_or_default()))) {
            causes.push(invalid("spec.selector", &spec["selector"], "`selector` not auto-generated"));
        }
    }
    match spec.get("selector") {
        None => causes.push(Cause::required("spec.selector", "")),
        Some(selector) => {
            let mut wanted = selector["matchLabels"].as_object().into_iter().flatten();
            if !wanted.all(|(label, value)| labels.get(label) == Some(value)) {
                causes.push(invalid(LABELS, &labels, "`selector` does not match template `labels`"));
            }
        }
    }
    let own = object::metadata(job).entry("labels").or_insert_with(|| json!({}));
    if object::entries(own).is_empty() {
        *own = labels;
    }
}
