//! Pods, and the pod templates of Jobs.

use serde_json::{Map, Value, json};

use super::field::default_to;
use super::names;
use crate::cause::Cause;
use crate::object;

pub(super) fn admit(old: Option<&Value>, pod: &mut Value, causes: &mut Vec<Cause>) {
    let spec = object::member(pod, "spec");
    default_to(spec, "restartPolicy", "Always");
    fill(spec);
    checked(spec, "spec", causes);
    match old {
        None => pod["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"}),
        Some(old) => unchanged(old, pod, causes),
    }
}

/// Fills in the defaults of a pod spec.
pub(super) fn fill(spec: &mut Map<String, Value>) {
    default_to(spec, "dnsPolicy", "ClusterFirst");
    default_to(spec, "schedulerName", "default-scheduler");
    default_to(spec, "securityContext", json!({}));
    default_to(spec, "terminationGracePeriodSeconds", 30);
    for list in ["initContainers", "containers"] {
        let Some(Value::Array(containers)) = spec.get_mut(list) else { continue };
        for container in containers.iter_mut().filter_map(Value::as_object_mut) {
            let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
            let tag = image.rsplit('/').next().and_then(|last| last.split_once(':'));
            let newest = !image.contains('@') && tag.is_none_or(|(_, tag)| tag == "latest");
            default_to(container, "imagePullPolicy", if newest { "Always" } else { "IfNotPresent" });
            default_to(container, "resources", json!({}));
            default_to(container, "terminationMessagePath", "/dev/termination-log");
            default_to(container, "terminationMessagePolicy", "File");
            if let Some(Value::Array(ports)) = container.get_mut("ports") {
                for port in ports.iter_mut().filter_map(Value::as_object_mut) {
                    default_to(port, "protocol", "TCP");
                }
            }
        }
    }
}

/// Requires at least one container, for each a unique name and an image, and a known restart policy.
pub(super) fn checked(spec: &Map<String, Value>, at: &str, causes: &mut Vec<Cause>) {
    let all = spec.get("containers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if all.is_empty() {
        causes.push(Cause::required(format!("{at}.containers"), ""));
    }
    for (index, container) in all.iter().enumerate() {
        let here = format!("{at}.containers[{index}]");
        let name = object::text(container, "name");
        if name.is_empty() {
            causes.push(Cause::required(format!("{here}.name"), ""));
        } else if let Some(why) = names::label(name) {
            causes.push(Cause::invalid(format!("{here}.name"), &name.into(), &why));
        } else if all[..index].iter().any(|earlier| object::text(earlier, "name") == name) {
            causes.push(Cause::duplicate(format!("{here}.name"), &format!("\"{name}\"")));
        }
        if object::text(container, "image").is_empty() {
            causes.push(Cause::required(format!("{here}.image"), ""));
        }
    }
    let policy = spec.get("restartPolicy").and_then(Value::as_str).unwrap_or_default();
    if !matches!(policy, "" | "Always" | "OnFailure" | "Never") {
        let supported = "\"Always\", \"OnFailure\", \"Never\"";
        causes.push(Cause::not_supported(format!("{at}.restartPolicy"), &policy.into(), supported));
    }
}

/// Refuses changes of the spec, except of images, the deadline and tolerations, and the first assignment of a node.
fn unchanged(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let fixed = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or_default();
        if let Value::Object(map) = &mut spec {
            for field in ["activeDeadlineSeconds", "tolerations"] {
                map.shift_remove(field);
            }
            if old.pointer("/spec/nodeName").is_none() {
                map.shift_remove("nodeName");
            }
            for list in ["initContainers", "containers"] {
                let containers = map.get_mut(list).and_then(Value::as_array_mut);
                for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
                    container.shift_remove("image");
                }
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        let why = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        causes.push(Cause::forbidden("spec", why));
    }
}
