//! What a pod asks for, as far as a process can give it. Pure: everything it refers to is handed in.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, Pod};

/// Values that a pod refers to: the keys of its Secrets and ConfigMaps.
pub(crate) type Data = BTreeMap<String, Vec<u8>>;

/// Why a container can't be made of a pod; in the words of the kubelet where it has some.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("{0} \"{1}\" not found")]
    Missing(Source, String),
    #[error("couldn't find key {key} in {source_of} {namespace}/{name}")]
    MissingKey { source_of: Source, namespace: String, name: String, key: String },
    #[error(
        "volume \"{volume}\" is of a kind that local runs don't have; they have secret, configMap, projected and emptyDir"
    )]
    VolumeKind { volume: String },
    #[error("volume \"{0}\" is mounted but not defined")]
    NoVolume(String),
    #[error("path \"{0}\" leads out of its folder")]
    Path(String),
    #[error("local runs have one container and no init containers, the pod has {0}")]
    Containers(usize),
    #[error("local runs have no images, so a container needs a command")]
    NoCommand,
    #[error("environment variable {0} takes its value from something that local runs don't have")]
    VariableKind(String),
}

/// Where values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Secret,
    ConfigMap,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Secret => "secret",
            Self::ConfigMap => "configmap",
        })
    }
}

/// Gives the data of the Secret or ConfigMap of that name in the pod's namespace.
pub(crate) trait Lookup {
    fn data(&self, source: Source, name: &str) -> Option<&Data>;
}

/// The one container that is run.
pub(crate) fn only_container(pod: &Pod) -> Result<&Container, Unfit> {
    let spec = pod.spec.as_ref().ok_or(Unfit::Containers(0))?;
    let all = spec.containers.len() + spec.init_containers.as_ref().map_or(0, Vec::len);
    spec.containers.first().filter(|_| all == 1).ok_or(Unfit::Containers(all))
}

/// The whole environment: `fixed` first, what the pod says over it, `forced` over that. Later variables may refer to earlier ones.
pub(crate) fn environment(
    pod: &Pod,
    container: &Container,
    lookup: &impl Lookup,
    fixed: &[(&str, String)],
    forced: &[(&str, String)],
) -> Result<BTreeMap<String, String>, Unfit> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        let secret = from.secret_ref.as_ref().map(|at| (Source::Secret, &at.name, at.optional));
        let map = from.config_map_ref.as_ref().map(|at| (Source::ConfigMap, &at.name, at.optional));
        let Some((source, name, optional)) = secret.or(map) else { continue };
        match lookup.data(source, name) {
            Some(data) => all.extend(data.iter().map(|(key, value)| (format!("{prefix}{key}"), text(value)))),
            None if optional == Some(true) => {}
            None => return Err(Unfit::Missing(source, name.clone())),
        }
    }
    // Known before the pod's own variables are read, so that `$(KUBEONKUBE_ROOT)` in them means what it will be.
    let known = |all: &BTreeMap<String, String>, name: &str| {
        let forced = forced.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        forced.or_else(|| all.get(name).cloned())
    };
    for variable in container.env.iter().flatten() {
        if let Some(value) = value(pod, variable, lookup)? {
            let value = expand(&value, |name| known(&all, name));
            all.insert(variable.name.clone(), value);
        }
    }
    for (name, value) in fixed {
        all.entry((*name).to_owned()).or_insert_with(|| value.clone());
    }
    all.extend(forced.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Ok(all)
}

/// Command and arguments with `$(VARIABLES)` replaced.
pub(crate) fn command_line(
    container: &Container,
    environment: &BTreeMap<String, String>,
) -> Result<Vec<String>, Unfit> {
    let command = container.command.as_ref().filter(|command| !command.is_empty()).ok_or(Unfit::NoCommand)?;
    let words = command.iter().chain(container.args.iter().flatten());
    Ok(words.map(|word| expand(word, |name| environment.get(name).cloned())).collect())
}

/// None for a key that is optional and missing.
fn value(pod: &Pod, variable: &EnvVar, lookup: &impl Lookup) -> Result<Option<String>, Unfit> {
    let Some(from) = &variable.value_from else { return Ok(Some(variable.value.clone().unwrap_or_default())) };
    if let Some(field) = &from.field_ref {
        return field_of(pod, &field.field_path).map(Some).ok_or_else(|| Unfit::VariableKind(variable.name.clone()));
    }
    let secret = from.secret_key_ref.as_ref().map(|at| (Source::Secret, &at.name, &at.key, at.optional));
    let map = from.config_map_key_ref.as_ref().map(|at| (Source::ConfigMap, &at.name, &at.key, at.optional));
    let Some((source, name, key, optional)) = secret.or(map) else {
        return Err(Unfit::VariableKind(variable.name.clone()));
    };
    let data = lookup.data(source, name);
    match data.and_then(|data| data.get(key)) {
        Some(value) => Ok(Some(text(value))),
        None if optional == Some(true) => Ok(None),
        None if data.is_none() => Err(Unfit::Missing(source, name.clone())),
        None => {
            let namespace = pod.metadata.namespace.clone().unwrap_or_default();
            Err(Unfit::MissingKey { source_of: source, namespace, name: name.clone(), key: key.clone() })
        }
    }
}

fn field_of(pod: &Pod, path: &str) -> Option<String> {
    let labelled = |all: &Option<BTreeMap<String, String>>, prefix: &str| {
        let key = path.strip_prefix(prefix)?.strip_prefix("['")?.strip_suffix("']")?;
        Some(all.as_ref().and_then(|all| all.get(key)).cloned().unwrap_or_default())
    };
    match path {
        "metadata.name" => pod.metadata.name.clone(),
        "metadata.namespace" => pod.metadata.namespace.clone(),
        "metadata.uid" => pod.metadata.uid.clone(),
        "spec.nodeName" => pod.spec.as_ref()?.node_name.clone(),
        _ => labelled(&pod.metadata.labels, "metadata.labels")
            .or_else(|| labelled(&pod.metadata.annotations, "metadata.annotations")),
    }
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Kubernetes' own expansion: `$(NAME)` is the variable's value, or stays as it is where there is none; `$$` is a dollar.
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
    use super::*;
    use serde_json::json;

    struct Known(BTreeMap<(Source, String), Data>);

    impl Lookup for Known {
        fn data(&self, source: Source, name: &str) -> Option<&Data> {
            self.0.get(&(source, name.to_owned()))
        }
    }

    fn known() -> Known {
        let data = Data::from([("colour".to_owned(), b"green".to_vec())]);
        Known([((Source::Secret, "paint".to_owned()), data)].into())
    }

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
    fn the_runners_own_values_win_and_are_what_the_command_sees() {
        let pod = pod(
            &json!({"name": "c", "command": ["python3", "$(KUBEONKUBE_ROOT)/conf/x.py"], "args": ["$(COLOUR)", "$(NAME)"], "env": [
            {"name": "KUBEONKUBE_ROOT", "value": ""}, {"name": "AT", "value": "$(KUBEONKUBE_ROOT)/a"}, {"name": "LANG", "value": "de"},
            {"name": "COLOUR", "valueFrom": {"secretKeyRef": {"name": "paint", "key": "colour"}}},
            {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "paint", "key": "size", "optional": true}}},
            {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
        );
        let container = only_container(&pod).unwrap();
        let fixed = [("LANG", "C.UTF-8".to_owned()), ("HOME", "/h".to_owned())];
        let all = environment(&pod, container, &known(), &fixed, &[("KUBEONKUBE_ROOT", "/r".to_owned())]).unwrap();
        let of = |name: &str| all.get(name).map(String::as_str);
        assert_eq!((of("AT"), of("LANG"), of("HOME"), of("NONE")), (Some("/r/a"), Some("de"), Some("/h"), None));
        assert_eq!(command_line(container, &all).unwrap(), ["python3", "/r/conf/x.py", "green", "p"]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let gone = |env: serde_json::Value| {
            let pod = pod(&json!({"name": "c", "env": [env]}));
            environment(&pod, only_container(&pod).unwrap(), &known(), &[], &[]).unwrap_err().to_string()
        };
        let from =
            |name: &str, key: &str| json!({"name": "X", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}});
        assert_eq!(gone(from("ink", "colour")), "secret \"ink\" not found");
        assert_eq!(gone(from("paint", "size")), "couldn't find key size in secret n/paint");
        let bare = pod(&json!({"name": "c"}));
        assert_eq!(command_line(only_container(&bare).unwrap(), &BTreeMap::new()), Err(Unfit::NoCommand));
    }
}
