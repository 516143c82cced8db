//! What kubespray's playbooks need beyond what the form asks for. `tests/data/kubespray_releases.json` records how each release handles its
//! arguments, and the tests compare it with the commands that the console submits.

use api::Problem;
use api::operation::{Action as Asked, Effect, NewOperation};
use crd::{ClusterOperationSpec, Engine, HookAction};
use inventory::{Inventory, Vars};
use operation::versions::{KubesprayRelease, kubespray_release};
use operation::{ACTIONS, ADD_NODES, Action, CREATE, FACTS, Options, Parameter, RECOVER, UPGRADE, Value, join};

use super::plan::Wanted;
use crate::Playbooks;
use crate::listed::listed;

/// The groups with the broken machines of [`RECOVER`].
const BROKEN: [&str; 2] = ["broken_etcd", "broken_kube_control_plane"];

/// Adds the arguments that kubespray documents for [`RECOVER`] (docs/operations/recover-control-plane.md), unless the user sets others.
pub(super) fn with_defaults(wanted: &mut Wanted, engine: Engine, inventory: &Inventory, vars: &Vars) {
    let is_recovery = wanted.action.is_some_and(|action| action.playbook == RECOVER);
    let (true, Engine::Kubespray, Ok(options)) = (is_recovery, engine, &wanted.options) else { return };
    let mut arguments = wanted.arguments.clone();
    // A file may set it, too.
    let is_set = options.variables.iter().any(|text| text.starts_with('@') || text.contains("etcd_retries"));
    if !is_set && !vars.contains_key("etcd_retries") {
        // At the front: what follows `--` is no option.
        arguments.splice(0..0, ["-e", "etcd_retries=10"].map(str::to_owned));
    }
    let groups = ["etcd", "kube_control_plane"].into_iter().filter(|name| inventory.group(name).is_some());
    let limit = groups.collect::<Vec<_>>().join(",");
    if options.limit.is_none() && !limit.is_empty() {
        arguments.insert(0, format!("--limit={limit}"));
    }
    wanted.options = Options::read(&arguments);
    wanted.spec.extra_args = join(&arguments);
    wanted.arguments = arguments;
}

/// Warnings about the groups with the broken machines. Kubespray's roles read both without looking whether they exist.
pub(super) fn of_broken(wanted: &Wanted, inventory: &Inventory) -> Vec<String> {
    if wanted.action.is_none_or(|action| action.playbook != RECOVER) {
        return Vec::new();
    }
    let [etcd, planes] = BROKEN;
    let groups: Vec<_> = BROKEN.into_iter().filter_map(|name| inventory.group(name)).collect();
    if groups.len() < BROKEN.len() {
        return vec![format!(
            "{RECOVER} needs the groups {etcd} and {planes} in the inventory, even if one of them is empty. Without one, it fails half-way."
        )];
    }
    if groups.iter().all(|group| group.hosts.is_empty() && group.children.is_empty()) {
        return vec![format!(
            "The groups {etcd} and {planes} of the inventory are empty, so {RECOVER} doesn't know which machines are broken."
        )];
    }
    let broken = groups.iter().flat_map(|group| &group.hosts).filter_map(|name| inventory.host(name));
    let mut still: Vec<&str> = broken.filter(|host| !host.roles.is_empty()).map(|host| host.name.as_str()).collect();
    still.sort_unstable();
    still.dedup();
    if still.is_empty() {
        return Vec::new();
    }
    let names = listed(&still.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), 5, "more");
    vec![format!(
        "Take {names} out of kube_control_plane, etcd and kube_node: {FACTS}, which runs first, stops if a machine of these groups doesn't answer."
    )]
}

/// The operation as the playbooks of `engine` need it.
pub(super) fn prepared(new: &NewOperation, mut wanted: Wanted, engine: Engine) -> Result<Wanted, Problem> {
    let Some(action) = wanted.action.filter(|action| engine == Engine::Kubespray && is_kubespray(action)) else {
        return Ok(wanted);
    };
    if action.effect != Effect::Reads && wanted.limit().is_some() {
        gather_facts(&mut wanted);
        limit_upgrade(&mut wanted, action);
    }
    if let Some(release) = kubespray_release(&wanted.spec.image) {
        write_version(new, &mut wanted, action, release)?;
    }
    Ok(wanted)
}

fn is_kubespray(action: &Action) -> bool {
    action.engines.contains(&Engine::Kubespray)
}

/// Gathers the facts of all machines first. Kubespray refuses a limited run without cached facts of the other machines, and a new
/// pod has an empty cache.
fn gather_facts(wanted: &mut Wanted) {
    if !wanted.spec.pre_hook.iter().any(|hook| hook.action == FACTS) {
        wanted.spec.pre_hook.insert(0, HookAction { action: FACTS.into(), ..HookAction::default() });
    }
}

/// Limits the upgrade after a limited `cluster.yml`, as kubespray documents it for new members of etcd. Without a limit it would drain
/// every node.
fn limit_upgrade(wanted: &mut Wanted, action: &Action) {
    let limit = wanted.limit().map(|limit| format!("--limit={limit}"));
    let hooks = wanted.spec.post_hook.iter_mut().filter(|hook| action.playbook == CREATE && hook.action == UPGRADE);
    for hook in hooks.filter(|hook| hook.extra_args.is_none()) {
        hook.extra_args = limit.as_ref().and_then(|limit| join(std::slice::from_ref(limit)));
    }
}

/// Whether [`limit_upgrade`] gave this hook of an earlier operation its arguments, and will again.
pub(super) fn is_limited_upgrade(hook: &HookAction, earlier: &ClusterOperationSpec, playbooks: Playbooks) -> bool {
    let is_kubespray = playbooks == Playbooks::Image && operation::engine(None, &earlier.image) == Engine::Kubespray;
    let is_upgrade = earlier.action == CREATE && hook.action == UPGRADE;
    let limit = Options::of(earlier).limit.and_then(|limit| join(&[format!("--limit={limit}")]));
    is_kubespray && is_upgrade && limit.is_some() && hook.extra_args == limit
}

/// Writes the version of the form's field as `release` needs it.
fn write_version(
    new: &NewOperation,
    wanted: &mut Wanted,
    action: &Action,
    release: &KubesprayRelease,
) -> Result<(), Problem> {
    let Asked::Builtin { parameters: Some(fields), .. } = &new.action else { return Ok(()) };
    let Some(Parameter { field, variable, .. }) = version_of(action) else { return Ok(()) };
    let Some(version) = fields.get(*field).and_then(|typed| typed.trim().parse().ok()) else { return Ok(()) };
    if let Some(why) = release.refuses(version) {
        return Err(Problem::field(*field, why));
    }
    let prefix = format!("{variable}=");
    if let Some(argument) = wanted.arguments.iter_mut().find(|argument| argument.starts_with(&prefix)) {
        *argument = format!("{prefix}{}", release.written(version));
        wanted.spec.extra_args = join(&wanted.arguments);
    }
    Ok(())
}

/// The parameter that is a version.
pub(crate) fn version_of(action: &Action) -> Option<&Parameter> {
    action.parameters.iter().find(|parameter| parameter.value == Value::Version)
}

/// Warnings about variables that kubespray's playbooks handle otherwise than people expect, as sentences.
pub(super) fn warnings(wanted: &Wanted, vars: &Vars) -> Vec<String> {
    let Some(action) = wanted.action.filter(|action| is_kubespray(action)) else { return Vec::new() };
    let is_true = |name: &str| vars.get(name).is_some_and(|value| value == true || value == "true" || value == "yes");
    let mut warnings = Vec::new();
    let asks = ["upgrade_node_confirm", "upgrade_node_post_upgrade_confirm"].into_iter().find(|name| is_true(name));
    if let Some(name) = asks.filter(|_| action.playbook == UPGRADE) {
        warnings.push(format!(
            "{name} is set in the variables, but a run can't answer questions, so it doesn't wait. To stop between nodes, limit the operation to some of them."
        ));
    }
    if is_true("unsafe_show_logs") {
        warnings.push(
            "unsafe_show_logs is set in the variables: kubespray then prints passwords and tokens into the log.".into(),
        );
    }
    warnings.extend(version_warning(wanted, action, vars));
    warnings
}

/// A warning if the release in the image can't use `kube_version` of the variables. An argument counts more than a variable.
fn version_warning(wanted: &Wanted, action: &Action, vars: &Vars) -> Option<String> {
    let release = kubespray_release(&wanted.spec.image)?;
    // New workers get the version of the variables, too, though no field of their form sets it.
    let installs = [CREATE, ADD_NODES, UPGRADE].contains(&action.playbook);
    let name = version_of(operation::action(ACTIONS, CREATE)?).filter(|_| installs)?.variable;
    if wanted.options.as_ref().is_ok_and(|options| !options.values_of(name).is_empty()) {
        return None;
    }
    let written = vars.get(name)?.as_str()?;
    let version = written.parse().ok()?;
    if let Some(why) = release.refuses(version) {
        return Some(format!("{name} is {written} in the variables. {why}"));
    }
    let right = release.written(version);
    (written != right).then(|| {
        format!("{name} is {written} in the variables, and kubespray {} fails with it. Write {right}.", release.release)
    })
}

#[cfg(test)]
#[path = "kubespray_tests.rs"]
mod tests;
