//! The command and the environment of a pod's container. Pure: callers pass in the Secrets that the pod refers to.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, Pod};

/// The Secrets that a pod refers to, by name, with their keys.
pub(super) type Secrets = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// Why a pod can't run here. The texts are the kubelet's where it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("secret \"{0}\" not found")]
    Missing(String),
    #[error("couldn't find key {key} in secret {namespace}/{name}")]
    MissingKey { namespace: String, name: String, key: String },
    #[error(
        "volume \"{volume}\" is of a kind that local runs don't support. They support whole volumes of kind secret and emptyDir"
    )]
    VolumeKind { volume: String },
    #[error("volume \"{0}\" is mounted but not defined")]
    NoVolume(String),
    #[error("path \"{0}\" leads out of its folder")]
    Path(String),
    #[error("local runs support one container and no init containers, but the pod has {0} in all")]
    Containers(usize),
    #[error("local runs use no image, so the container needs a command")]
    NoCommand,
    #[error("environment variable {0} takes its value from a source that local runs don't support")]
    VariableKind(String),
}

/// The container to run. An error if the pod has more than one.
pub(super) fn only_container(pod: &Pod) -> Result<&Container, Unfit> {
    let spec = pod.spec.as_ref().ok_or(Unfit::Containers(0))?;
    let all = spec.containers.len() + spec.init_containers.as_ref().map_or(0, Vec::len);
    spec.containers.first().filter(|_| all == 1).ok_or(Unfit::Containers(all))
}

/// The whole environment. The pod's variables override `defaults`, and `forced` overrides both. A variable may refer to earlier ones.
pub(super) fn environment(
    container: &Container,
    defaults: &[(&str, String)],
    forced: &[(&str, String)],
) -> Result<BTreeMap<String, String>, Unfit> {
    if container.env_from.as_ref().is_some_and(|all| !all.is_empty()) {
        return Err(Unfit::VariableKind("envFrom".into()));
    }
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    // Forced values first: `$(KUBEONKUBE_ROOT)` in a variable of the pod must become the value that the command will see.
    let known = |all: &BTreeMap<String, String>, name: &str| {
        let forced = forced.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        forced.or_else(|| all.get(name).cloned())
    };
    for variable in container.env.iter().flatten() {
        if variable.value_from.is_some() {
            return Err(Unfit::VariableKind(variable.name.clone()));
        }
        let value = expand(variable.value.as_deref().unwrap_or_default(), |name| known(&all, name));
        all.insert(variable.name.clone(), value);
    }
    for (name, value) in defaults {
        all.entry((*name).to_owned()).or_insert_with(|| value.clone());
    }
    all.extend(forced.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Ok(all)
}

/// Command and arguments, with `$(NAME)` expanded.
pub(super) fn command_line(
    container: &Container,
    environment: &BTreeMap<String, String>,
) -> Result<Vec<String>, Unfit> {
    let command = container.command.as_ref().filter(|command| !command.is_empty()).ok_or(Unfit::NoCommand)?;
    let words = command.iter().chain(container.args.iter().flatten());
    Ok(words.map(|word| expand(word, |name| environment.get(name).cloned())).collect())
}

/// Kubernetes' expansion: `$(NAME)` becomes the variable's value, or stays unchanged if there is none. `$$` becomes `$`.
/// <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#entrypoint>
fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            match value(name) {
                Some(value) => out.push_str(&value),
                None => out.extend(["$(", name, ")"]),
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(container: &serde_json::Value) -> Pod {
        let pod = json!({"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": [container]}});
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn variables_are_expanded_as_kubernetes_does() {
        let value = |name: &str| (name == "A").then(|| "one".to_owned());
        let cases = [
            ("$(A)/x", "one/x"),
            ("$(B)", "$(B)"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$one"),
            ("a$b$", "a$b$"),
            ("$(A", "$(A"),
        ];
        for (text, wanted) in cases {
            assert_eq!(expand(text, value), wanted, "{text}");
        }
    }

    #[test]
    fn the_runners_values_override_those_of_the_pod() {
        let pod = pod(
            &json!({"name": "c", "command": ["python3", "$(KUBEONKUBE_ROOT)/conf/x.py"], "args": ["$(COLOUR)"], "env": [
            {"name": "KUBEONKUBE_ROOT", "value": ""}, {"name": "AT", "value": "$(KUBEONKUBE_ROOT)/a"}, {"name": "LANG", "value": "de"},
            {"name": "COLOUR", "value": "green"}, {"name": "EMPTY"}]}),
        );
        let container = only_container(&pod).unwrap();
        let defaults = [("LANG", "C.UTF-8".to_owned()), ("HOME", "/h".to_owned())];
        let all = environment(container, &defaults, &[("KUBEONKUBE_ROOT", "/r".to_owned())]).unwrap();
        let of = |name: &str| all.get(name).map(String::as_str);
        assert_eq!((of("AT"), of("LANG"), of("HOME"), of("EMPTY")), (Some("/r/a"), Some("de"), Some("/h"), Some("")));
        assert_eq!(command_line(container, &all).unwrap(), ["python3", "/r/conf/x.py", "green"]);
    }

    #[test]
    fn unsupported_sources_of_variables_are_refused_by_name() {
        let refused = |container: serde_json::Value| {
            let pod = pod(&container);
            environment(only_container(&pod).unwrap(), &[], &[]).unwrap_err()
        };
        let from = json!({"secretKeyRef": {"name": "paint", "key": "colour"}});
        assert_eq!(
            refused(json!({"name": "c", "env": [{"name": "X", "valueFrom": from}]})),
            Unfit::VariableKind("X".into())
        );
        let all = json!([{"configMapRef": {"name": "paint"}}]);
        assert_eq!(refused(json!({"name": "c", "envFrom": all})), Unfit::VariableKind("envFrom".into()));
        let bare = pod(&json!({"name": "c"}));
        assert_eq!(command_line(only_container(&bare).unwrap(), &BTreeMap::new()), Err(Unfit::NoCommand));
    }
}
