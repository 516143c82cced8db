//! The cells of a row, worded as in kubectl.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::jsonpath;
use crate::kind::{BuiltIn, Kind, Nature};
use crate::object;

pub(super) fn of(kind: &Kind, stored: &Value) -> Vec<Value> {
    match &kind.nature {
        Nature::Custom(custom) => {
            let own = custom.columns.iter().map(|column| {
                let found = jsonpath::find(stored, object::text(column, "jsonPath"));
                let date = object::text(column, "type") == "date";
                match found {
                    None | Some(Value::Null) => Value::Null,
                    Some(Value::String(text)) if date => ago(text).into(),
                    Some(value @ (Value::Object(_) | Value::Array(_))) => value.to_string().into(),
                    Some(value) => value.clone(),
                }
            });
            let mut cells = vec![object::name(stored).into()];
            cells.extend(own);
            if custom.columns.is_empty() {
                cells.push(age(stored));
            }
            cells
        }
        Nature::BuiltIn(kind) => built_in(*kind, stored),
        Nature::Empty => Vec::new(),
    }
}

fn built_in(kind: BuiltIn, stored: &Value) -> Vec<Value> {
    let name = json!(object::name(stored));
    let at = |pointer: &str| stored.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let count = |field: &str| stored.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len);
    match kind {
        BuiltIn::Namespace => vec![name, at("/status/phase").into(), age(stored)],
        BuiltIn::ConfigMap => vec![name, (count("data") + count("binaryData")).into(), age(stored)],
        BuiltIn::Secret => vec![name, at("/type").into(), count("data").into(), age(stored)],
        BuiltIn::Lease => vec![name, at("/spec/holderIdentity").into(), age(stored)],
        BuiltIn::ServiceAccount => vec![name, age(stored)],
        BuiltIn::Role | BuiltIn::Definition => vec![name, at("/metadata/creationTimestamp").into()],
        BuiltIn::RoleBinding => {
            let role = format!("{}/{}", at("/roleRef/kind"), at("/roleRef/name"));
            vec![name, role.into(), age(stored)]
        }
        BuiltIn::Pod => pod(stored),
        BuiltIn::Job => job(stored),
        BuiltIn::Event | BuiltIn::NewEvent => event(stored),
    }
}

fn list<'a>(stored: &'a Value, pointer: &str) -> &'a [Value] {
    stored.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn pod(pod: &Value) -> Vec<Value> {
    let statuses = list(pod, "/status/containerStatuses");
    let ready = statuses.iter().filter(|status| status.get("ready").is_some_and(|ready| ready == true)).count();
    let all = list(pod, "/spec/containers").len();
    let restarts: i64 = statuses.iter().filter_map(|status| status.get("restartCount")?.as_i64()).sum();
    let none = |pointer: &str| match pod.pointer(pointer).and_then(Value::as_str) {
        None | Some("") => "<none>".to_owned(),
        Some(text) => text.to_owned(),
    };
    vec![
        object::name(pod).into(),
        format!("{ready}/{all}").into(),
        pod_status(pod, statuses).into(),
        restarts.to_string().into(),
        age(pod),
        none("/status/podIP").into(),
        none("/spec/nodeName").into(),
        "<none>".into(),
        "<none>".into(),
    ]
}

/// The phase, or a more exact reason from the pod or a container.
fn pod_status(pod: &Value, statuses: &[Value]) -> String {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut status = text("/status/phase").to_owned();
    if !text("/status/reason").is_empty() {
        status = text("/status/reason").to_owned();
    }
    for container in statuses {
        let reason = |state: &str| {
            let reason = container.pointer(&format!("/state/{state}/reason")).and_then(Value::as_str);
            reason.filter(|reason| !reason.is_empty()).map(str::to_owned)
        };
        if let Some(reason) = reason("waiting").or_else(|| reason("terminated")) {
            status = reason;
        } else if let Some(code) = container.pointer("/state/terminated/exitCode") {
            status = format!("ExitCode:{code}");
        }
    }
    if object::is_deleting(pod) && !matches!(text("/status/phase"), "Succeeded" | "Failed") {
        status = "Terminating".into();
    }
    status
}

fn job(job: &Value) -> Vec<Value> {
    let condition = |wanted: &str| {
        list(job, "/status/conditions")
            .iter()
            .any(|condition| object::text(condition, "type") == wanted && object::text(condition, "status") == "True")
    };
    let status = match () {
        () if condition("Complete") => "Complete",
        () if condition("Failed") => "Failed",
        () if object::is_deleting(job) => "Terminating",
        () if condition("Suspended") => "Suspended",
        () if condition("FailureTarget") => "FailureTarget",
        () if condition("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    };
    let number = |pointer: &str| job.pointer(pointer).and_then(Value::as_i64);
    let completions =
        format!("{}/{}", number("/status/succeeded").unwrap_or(0), number("/spec/completions").unwrap_or(1));
    let time =
        |pointer: &str| job.pointer(pointer).and_then(Value::as_str).and_then(|text| text.parse::<Timestamp>().ok());
    let duration = time("/status/startTime").map(|start| {
        let end = time("/status/completionTime").unwrap_or_else(Timestamp::now);
        span(end.as_second() - start.as_second())
    });
    let containers = list(job, "/spec/template/spec/containers");
    let joined = |field: &str| {
        let all: Vec<&str> = containers.iter().map(|container| object::text(container, field)).collect();
        all.join(",")
    };
    let labels = job.pointer("/spec/selector/matchLabels").and_then(Value::as_object).into_iter().flatten();
    let selector: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    vec![
        object::name(job).into(),
        status.into(),
        completions.into(),
        duration.map_or(Value::from(""), Value::from),
        age(job),
        joined("name").into(),
        joined("image").into(),
        selector.join(",").into(),
    ]
}

fn event(event: &Value) -> Vec<Value> {
    let at = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let first = |pointers: &[&str]| {
        pointers.iter().map(|pointer| at(pointer)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let last_seen = first(&["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]);
    let first_seen = first(&["/firstTimestamp", "/eventTime", "/metadata/creationTimestamp"]);
    let about = format!("{}/{}", at("/involvedObject/kind").to_lowercase(), at("/involvedObject/name"));
    let source = [first(&["/source/component", "/reportingComponent"]), at("/source/host")];
    let source: Vec<&str> = source.into_iter().filter(|part| !part.is_empty()).collect();
    let count = event.pointer("/series/count").or_else(|| event.get("count")).and_then(Value::as_i64).unwrap_or(1);
    vec![
        ago(last_seen).into(),
        at("/type").into(),
        at("/reason").into(),
        about.into(),
        at("/involvedObject/fieldPath").into(),
        source.join(", ").into(),
        at("/message").trim().into(),
        ago(first_seen).into(),
        count.into(),
        object::name(event).into(),
    ]
}

fn age(stored: &Value) -> Value {
    ago(object::meta(stored, "creationTimestamp")).into()
}

/// The time since `time`, as kubectl prints it.
fn ago(time: &str) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return "<unknown>".into() };
    span(Timestamp::now().as_second() - time.as_second())
}

/// A duration in at most two units: `20m`, `5m3s`, `3h10m`, `3d4h`, `2y10d`.
fn span(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |whole: i64, unit: &str, rest: i64, small: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{small}") }
    };
    match () {
        () if seconds < 0 => "0s".into(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if hours < 3 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, "d", hours % 24, "h"),
        () if days < 730 => format!("{days}d"),
        () if days < 365 * 8 => two(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn ages_are_printed_as_in_kubectl() {
        let ages =
            [(5, "5s"), (119, "119s"), (120, "2m"), (303, "5m3s"), (1200, "20m"), (10_000, "166m"), (11_400, "3h10m")];
        for (seconds, text) in
            ages.into_iter().chain([(100_000, "27h"), (200_000, "2d7h"), (9_000_000, "104d"), (-3, "0s")])
        {
            assert_eq!(span(seconds), text);
        }
    }
}
