//! Whether an operation may run, and what it would run: a pure function of the operation, its Cluster and the inputs read.

use std::collections::{BTreeMap, BTreeSet};

use api::run::StepRole;
use crd::{ActionSource, ActionType, Cluster, ClusterOperation, DataRef};
use inventory::{Inventory, Vars};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use masking::Masker;
use operation::{Asked, asked, cut, steps};

use crate::inputs::difference;
use crate::inputs::plan::Plan;
use crate::inputs::read::{self, Found, NextKey};
use crate::label;
use crate::status::refusal::Refusal;
use crate::status::sentence::list;

/// A Secret holds at most 1 MiB, including its metadata and the files that every run gets.
const SNAPSHOT_LIMIT: usize = 1024 * 1024 - 128 * 1024;
/// Kubernetes' limit for the length of a key.
const KEY_LIMIT: usize = 253;

/// Checks the operation itself, before any input is read.
pub(crate) fn submission(operation: &ClusterOperation) -> Result<(), Refusal> {
    let name = operation.metadata.name.as_deref().unwrap_or_default();
    let spec = &operation.spec;
    // The Job's name is a label of its pods, so the limit of label values applies.
    if crd::job_name(name).len() > 63 {
        return Err(Refusal::NameTooLong { length: name.len() });
    }
    if !label::is_value(&spec.cluster) {
        return Err(Refusal::ClusterName { cluster: spec.cluster.clone() });
    }
    if spec.image.trim().is_empty() {
        return Err(Refusal::NoImage);
    }
    if let Some(seconds) = spec.active_deadline_seconds.filter(|&seconds| !(1..=i64::from(i32::MAX)).contains(&seconds))
    {
        return Err(Refusal::Deadline { seconds });
    }
    Ok(asked(spec, None).iter().try_for_each(Asked::check)?)
}

/// Checks the inputs and resolves what will run.
pub(crate) fn plan(operation: &ClusterOperation, cluster: &Cluster, found: &Found) -> Result<Plan, Refusal> {
    let spec = &cluster.spec;
    if cluster.metadata.deletion_timestamp.is_some() {
        return Err(Refusal::ClusterLeaving { cluster: operation.spec.cluster.clone() });
    }
    let namespace = one_namespace(operation, cluster)?;
    inputs_exist(cluster, found)?;
    next_key_is_usable(operation, cluster, found)?;
    let hosts_yml = text(found, "hostsConfRef", &spec.hosts_conf_ref, crd::KEY_HOSTS)?;
    let vars_yml = text(found, "varsConfRef", &spec.vars_conf_ref, crd::KEY_VARS)?;
    let (inventory, vars) = inputs_read(cluster, found)?;
    if let Some(expected) = operation.spec.expected_inputs.as_deref()
        && !expected.eq_ignore_ascii_case(&crd::inputs_sha256(&hosts_yml, &vars_yml))
    {
        return Err(Refusal::InputsChanged { what: difference::unknown(&inventory, &vars) });
    }
    for asked in asked(&operation.spec, Some(spec)) {
        file_exists(&asked, found)?;
    }
    let run = steps(&operation.spec, spec)?;
    let sources = run.sources.iter().map(|at| config_map(found, "actionSourceRef", at).map(files));
    let mut sources = sources.collect::<Result<Vec<_>, _>>()?;
    for (at, files) in run.sources.iter().zip(&mut sources) {
        correct_line_ends(operation, at, files);
    }
    let mut plan = Plan {
        namespace,
        hosts_yml,
        vars_yml,
        secret_vars: secret_vars(cluster, found)?,
        known_hosts: known_hosts(cluster, found)?,
        reads: found.requests,
        sources,
        steps: run.steps,
        scripts: run.scripts,
        secrets: Vec::new(),
        names: Vec::new(),
    };
    plan.secrets = plan.found_secrets();
    let names = masking::names_with(&plan.secrets, inventory.names());
    plan.names = names.into_iter().map(str::to_owned).collect();
    fits(plan)
}

/// Checks that the objects the Cluster refers to exist and have the expected keys. The condition InputsReady uses it, too.
pub(crate) fn inputs_exist(cluster: &Cluster, found: &Found) -> Result<(), Refusal> {
    let spec = &cluster.spec;
    text(found, "hostsConfRef", &spec.hosts_conf_ref, crd::KEY_HOSTS)?;
    text(found, "varsConfRef", &spec.vars_conf_ref, crd::KEY_VARS)?;
    if let Some(at) = &spec.pre_check_ref {
        text(found, "preCheckRef", at, crd::KEY_PRECHECK)?;
    }
    known_hosts(cluster, found)?;
    secret_vars(cluster, found)?;
    let Some(at) = &spec.ssh_auth_ref else { return Ok(()) };
    let missing = || Refusal::Missing { field: "sshAuthRef", kind: "Secret", at: at.clone() };
    let secret = found.ssh.as_ref().ok_or_else(missing)?;
    if !secret.keys.contains(crd::KEY_SSH) {
        return Err(no_key("sshAuthRef", "Secret", at, crd::KEY_SSH, &mut secret.keys.iter()));
    }
    match secret.fault.clone() {
        Some(fault) => Err(Refusal::PrivateKey { at: at.clone(), key: crd::KEY_SSH, fault }),
        None => Ok(()),
    }
}

/// The variables that `secretVarsRef` refers to.
fn secret_vars(cluster: &Cluster, found: &Found) -> Result<Option<BTreeMap<String, String>>, Refusal> {
    let Some(at) = &cluster.spec.secret_vars_ref else { return Ok(None) };
    let missing = || Refusal::Missing { field: "secretVarsRef", kind: "Secret", at: at.clone() };
    let secret = found.secret_vars.as_ref().ok_or_else(missing)?;
    if secret.type_.as_deref() != Some(crd::SECRET_VARS_TYPE) {
        return Err(Refusal::NotVariables { at: at.clone() });
    }
    let variable = |(key, value): (&String, &ByteString)| {
        if !crd::is_variable_name(key) {
            return Err(Refusal::NotAVariable { at: at.clone(), key: cut(key, 80) });
        }
        let text =
            String::from_utf8(value.0.clone()).map_err(|_| Refusal::NotText { at: at.clone(), key: key.clone() })?;
        // `kubectl create secret --from-file` keeps the newline at the end of the file.
        let line = text.strip_suffix('\n').filter(|line| !line.contains('\n'));
        Ok((key.clone(), line.unwrap_or(&text).to_owned()))
    };
    secret.data.iter().flatten().map(variable).collect::<Result<_, _>>().map(Some)
}

/// An operation that tests a new private key must not run with another one.
fn next_key_is_usable(operation: &ClusterOperation, cluster: &Cluster, found: &Found) -> Result<(), Refusal> {
    let Some(tested) = &operation.spec.next_ssh_key else { return Ok(()) };
    let stored = found.ssh.as_ref().and_then(|secret| secret.next.as_ref()).filter(|next| next.id == *tested);
    match (stored, &cluster.spec.ssh_auth_ref) {
        (Some(NextKey { fault: None, .. }), _) => Ok(()),
        (Some(NextKey { fault: Some(fault), .. }), Some(at)) => {
            Err(Refusal::PrivateKey { at: at.clone(), key: crd::KEY_SSH_NEXT, fault: fault.clone() })
        }
        _ => Err(Refusal::NextKey),
    }
}

/// The host keys that a user confirmed, if any. A ConfigMap without the expected key is an error, not the same as none confirmed.
fn known_hosts(cluster: &Cluster, found: &Found) -> Result<Option<String>, Refusal> {
    let at = read::known_hosts(cluster);
    let Some(map) = found.config_maps.get(&at) else { return Ok(None) };
    let text = map.data.as_ref().and_then(|data| data.get(crd::KEY_KNOWN_HOSTS));
    let text = text.ok_or_else(|| Refusal::HostKeys { at, found: list(keys(map), 10) })?;
    // With an empty known_hosts file, ssh would reject every machine. An empty text means that no key was confirmed.
    Ok(crd::says_host_keys(text).then(|| text.clone()))
}

/// Whether a user confirmed host keys. Then runs refuse all others.
pub(crate) fn confirms_host_keys(cluster: &Cluster, found: &Found) -> bool {
    known_hosts(cluster, found).is_ok_and(|keys| keys.is_some())
}

/// Parses inventory and variables; the inventory must have a host.
pub(crate) fn inputs_read(cluster: &Cluster, found: &Found) -> Result<(Inventory, Vars), Refusal> {
    let (hosts, vars) = (&cluster.spec.hosts_conf_ref, &cluster.spec.vars_conf_ref);
    let (hosts_yml, vars_yml) = inputs_text(cluster, found)?;
    // A parser's message may quote secrets of the text.
    let hidden = |text: &str, why: String| Masker::new(text, None).value(why);
    let inventory = inventory::parse(&hosts_yml).map_err(|why| Refusal::Inventory {
        at: hosts.clone(),
        is_empty: matches!(why.kind, inventory::Kind::Empty | inventory::Kind::NoHosts),
        why: hidden(&hosts_yml, why.to_string()),
    })?;
    let vars = inventory::parse_vars(&vars_yml)
        .map_err(|why| Refusal::Variables { at: vars.clone(), why: hidden(&vars_yml, why.to_string()) })?;
    Ok((inventory, vars))
}

/// The cluster's inventory and variables as they are written.
pub(crate) fn inputs_text(cluster: &Cluster, found: &Found) -> Result<(String, String), Refusal> {
    let (hosts, vars) = (&cluster.spec.hosts_conf_ref, &cluster.spec.vars_conf_ref);
    Ok((text(found, "hostsConfRef", hosts, crd::KEY_HOSTS)?, text(found, "varsConfRef", vars, crd::KEY_VARS)?))
}

/// The namespace that all references name. A playbook from another namespace would let users read what they have no right to read.
pub(crate) fn one_namespace(operation: &ClusterOperation, cluster: &Cluster) -> Result<String, Refusal> {
    has_inventory(cluster)?;
    let steps = asked(&operation.spec, None);
    let sources = steps.iter().filter(|asked| asked.source == ActionSource::Configmap);
    let sources = sources.filter_map(|asked| Some((format!("the source of {}", asked.place), asked.source_ref?)));
    same_namespace(cluster_references(cluster).into_iter().map(|(field, at)| (field.to_owned(), at)).chain(sources))
}

/// The namespace that all references of the Cluster name.
pub(crate) fn cluster_namespace(cluster: &Cluster) -> Result<String, Refusal> {
    has_inventory(cluster)?;
    same_namespace(cluster_references(cluster).into_iter().map(|(field, at)| (field.to_owned(), at)))
}

/// A hosted cluster may lack an inventory. Then there is nothing to run on.
fn has_inventory(cluster: &Cluster) -> Result<(), Refusal> {
    if cluster.spec.has_inventory() { Ok(()) } else { Err(Refusal::NoInventory) }
}

fn cluster_references(cluster: &Cluster) -> Vec<(&'static str, &DataRef)> {
    let spec = &cluster.spec;
    [
        ("hostsConfRef", Some(&spec.hosts_conf_ref)),
        ("varsConfRef", Some(&spec.vars_conf_ref)),
        ("sshAuthRef", spec.ssh_auth_ref.as_ref()),
        ("preCheckRef", spec.pre_check_ref.as_ref()),
        ("kubeConfRef", spec.kube_conf_ref.as_ref()),
        ("secretVarsRef", spec.secret_vars_ref.as_ref()),
    ]
    .into_iter()
    .filter_map(|(field, at)| Some((field, at?)))
    .collect()
}

fn same_namespace<'a>(references: impl Iterator<Item = (String, &'a DataRef)>) -> Result<String, Refusal> {
    let mut references = references;
    let (one, first) = references.next().expect("the caller has checked that there is an inventory");
    match references.find(|(_, at)| at.namespace != first.namespace) {
        None => Ok(first.namespace.clone()),
        Some((other, second)) => {
            Err(Refusal::TwoNamespaces { one, first: first.namespace.clone(), other, second: second.namespace.clone() })
        }
    }
}

fn text(found: &Found, field: &'static str, at: &DataRef, key: &'static str) -> Result<String, Refusal> {
    let map = config_map(found, field, at)?;
    let missing = || no_key(field, "ConfigMap", at, key, &mut keys(map));
    map.data.as_ref().and_then(|data| data.get(key)).cloned().ok_or_else(missing)
}

fn no_key(
    field: &'static str,
    kind: &'static str,
    at: &DataRef,
    key: &'static str,
    found: &mut dyn Iterator<Item = &String>,
) -> Refusal {
    let at = at.clone();
    let mut found = found.peekable();
    match found.peek() {
        None => Refusal::Empty { field, kind, at, key: key.into() },
        Some(_) => Refusal::MissingKey { field, kind, at, key, found: list(found, 10) },
    }
}

fn config_map<'a>(found: &'a Found, field: &'static str, at: &DataRef) -> Result<&'a ConfigMap, Refusal> {
    found.config_maps.get(at).ok_or_else(|| Refusal::Missing { field, kind: "ConfigMap", at: at.clone() })
}

fn keys(map: &ConfigMap) -> impl Iterator<Item = &String> {
    map.data.iter().flat_map(BTreeMap::keys).chain(map.binary_data.iter().flat_map(BTreeMap::keys))
}

/// Checks that the ConfigMap of a step exists and has its file.
fn file_exists(asked: &Asked<'_>, found: &Found) -> Result<(), Refusal> {
    let (ActionSource::Configmap, Some(at)) = (asked.source, asked.source_ref) else { return Ok(()) };
    let field = if asked.role == StepRole::Main { "actionSourceRef" } else { "A hook's source" };
    let map = config_map(found, field, at)?;
    if keys(map).any(|key| key == asked.action) {
        return Ok(());
    }
    let (place, action) = (asked.place.clone(), cut(asked.action, 80));
    if keys(map).next().is_none() {
        return Err(Refusal::Empty { field, kind: "ConfigMap", at: at.clone(), key: action });
    }
    Err(Refusal::NoSuchFile { place, action, at: at.clone(), found: list(keys(map), 10) })
}

fn files(map: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let texts = map.data.iter().flatten().map(|(key, text)| (key.clone(), text.clone().into_bytes()));
    let bytes = map.binary_data.iter().flatten().map(|(key, bytes)| (key.clone(), bytes.0.clone()));
    texts.chain(bytes).collect()
}

/// Corrects the line ends of the files of ConfigMap `at` that are run as scripts: by a step, or by a task of a playbook (`script`). Other
/// files stay as they are.
fn correct_line_ends(operation: &ClusterOperation, at: &DataRef, files: &mut BTreeMap<String, Vec<u8>>) {
    let steps = asked(&operation.spec, None);
    let of_map = steps.iter().filter(|asked| asked.source == ActionSource::Configmap && asked.source_ref == Some(at));
    let shell = of_map.filter(|asked| asked.kind == ActionType::Shell).map(|asked| asked.action);
    let names: BTreeSet<&str> = shell.collect();
    for (name, bytes) in files {
        if names.contains(name.as_str()) || is_windows_script(name, bytes) {
            *bytes = unix_line_ends(bytes);
        }
    }
}

/// Whether the file is for a shell or starts with the name of its interpreter, and its first line has a Windows line end, with which Linux
/// finds neither the interpreter nor the commands.
fn is_windows_script(name: &str, bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    (name.ends_with(".sh") || first.starts_with(b"#!")) && first.ends_with(b"\r") && first.len() < bytes.len()
}

/// Removes the CR of Windows line ends. In files without line feeds, the CR is the line end (old Mac).
fn unix_line_ends(script: &[u8]) -> Vec<u8> {
    let end = if script.contains(&b'\n') { b'\n' } else { b'\r' };
    let lines = script.split(|byte| *byte == end).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.collect::<Vec<_>>().join(&b'\n')
}

fn fits(plan: Plan) -> Result<Plan, Refusal> {
    let known_hosts = plan.known_hosts.as_ref().map_or(0, String::len);
    let scripts: usize = plan.scripts.iter().map(String::len).sum();
    let sources: usize = plan.sources.iter().flatten().map(|(key, bytes)| key.len() + bytes.len()).sum();
    let secret_vars: usize = plan.secret_vars.iter().flatten().map(|(name, value)| name.len() + value.len()).sum();
    let inputs = plan.hosts_yml.len() + plan.vars_yml.len() + known_hosts + secret_vars;
    let lists: usize = plan.secrets.iter().chain(&plan.names).map(|text| text.len() + 4).sum();
    let bytes = inputs + scripts + sources + lists;
    let long = plan.sources.iter().flatten().any(|(key, _)| key.len() + "source.99.".len() > KEY_LIMIT);
    if bytes > SNAPSHOT_LIMIT || long { Err(Refusal::TooLarge { bytes, limit: SNAPSHOT_LIMIT }) } else { Ok(plan) }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
