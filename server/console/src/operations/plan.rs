//! Turns a request into an operation, with the checks that need only the request and the catalogue. Pure, apart from random
//! names.

use std::collections::BTreeMap;
use std::path::Path;

use api::operation::{Action as Asked, NewOperation, ThenRemove};
use api::{ClusterName, FieldProblem, OperationName};
use crd::{ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, DataRef, HookAction};
use masking::HIDDEN;
use operation::{ACTIONS, Action, Options, REMOVE_NODES, WITHOUT_MACHINE, cut};
use rand::Rng;

use super::again::NOT_REPEATABLE;
use super::arguments::QUOTES;
use super::catalogue::Catalogue;
use super::parameters;
use super::removed::named_in;

/// The operation for a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) spec: ClusterOperationSpec,
    /// The arguments of the action, the limit first. `spec` has the same arguments, joined to one text.
    pub(crate) arguments: Vec<String>,
    /// What ansible reads from them, or why it refuses them. Empty for a script.
    pub(crate) options: Result<Options, String>,
    /// Its entry in the catalogue, if there is one.
    pub(crate) action: Option<&'static Action>,
}

impl Wanted {
    /// The limit of the action.
    pub(crate) fn limit(&self) -> Option<&str> {
        self.options.as_ref().ok()?.limit.as_deref()
    }

    /// The file name of the playbook; `None` for a script.
    pub(crate) fn playbook(&self) -> Option<&str> {
        if self.spec.action_type != ActionType::Playbook {
            return None;
        }
        Path::new(&self.spec.action).file_name()?.to_str()
    }
}

/// The operation, or the errors of all fields.
pub(crate) fn wanted(
    new: &NewOperation,
    catalogue: &Catalogue,
    default_image: &str,
) -> Result<Wanted, Vec<FieldProblem>> {
    let mut problems = Vec::new();
    let mut refuse = |field: &str, message: String| problems.push(FieldProblem { field: field.into(), message });
    let mut action = None;
    let mut arguments: Vec<String> = Some(&new.limit)
        .filter(|limit| !limit.is_empty())
        .map(|limit| format!("--limit={limit}"))
        .into_iter()
        .collect();
    if new.action.is_shell() && !new.limit.is_empty() {
        refuse(
            "limit",
            "A script runs only once, beside the inventory and not on each machine. Leave the limit empty.".into(),
        );
    }
    if let Asked::Builtin { playbook, parameters } = &new.action {
        match catalogue.builtin(playbook) {
            Ok(known) => action = known,
            Err(message) => refuse("action", message),
        }
        let nothing = BTreeMap::new();
        let typed = parameters.as_ref().unwrap_or(&nothing);
        match action.map(|action| (action, parameters::arguments(action, new.cluster.as_str(), typed, &new.arguments)))
        {
            Some((_, Ok(made))) => arguments.extend(made),
            // The form has no fields at which the problems could be shown.
            Some((action, Err(_))) if parameters.is_none() => refuse("action", choose_from_list(action)),
            Some((_, Err(wrong))) => wrong.into_iter().for_each(|problem| refuse(&problem.field, problem.message)),
            None => {}
        }
    }
    arguments.extend(new.arguments.iter().cloned());
    let script = match &new.action {
        Asked::Script(text) => text.as_str(),
        _ => "",
    };
    for (field, hidden) in [
        ("extra_args", arguments.iter().any(|argument| argument.contains(HIDDEN))),
        ("script", script.contains(HIDDEN)),
    ] {
        if hidden {
            refuse(field, format!("Replace {HIDDEN} with the secret. Secrets of an earlier operation aren't shown."));
        }
    }
    if let Asked::File { key, .. } = &new.action
        && key.starts_with(NOT_REPEATABLE)
    {
        let message = "bash runs files ending in .sh or .bash from this form, and ansible the others. Rename the key, or submit the operation with kubectl.";
        refuse("action", message.into());
    }
    for (field, hooks) in [("pre_hooks", &new.pre_hooks), ("post_hooks", &new.post_hooks)] {
        if let Some(message) = hooks.iter().find_map(|playbook| not_a_hook(playbook, catalogue)) {
            refuse(field, message);
        }
    }
    let options = if new.action.is_shell() { Ok(Options::default()) } else { Options::read(&arguments) };
    // No check and no confirmation would know about it.
    let playbooks = options.as_ref().map(|options| options.playbooks.as_slice()).unwrap_or_default();
    // “--tags a” in one line is a mistake that has a warning of its own.
    let is_split = |text: &&String| text.starts_with("--") && text.contains(' ') && !text.contains('=');
    if let Some(playbook) = playbooks.iter().find(|playbook| !is_split(playbook)) {
        let short = cut(playbook, 60);
        let why = if playbook.starts_with(QUOTES) {
            format!(
                "No shell removes the quotes of “{short}”, so ansible reads it as another playbook. Leave the quotes out."
            )
        } else {
            format!("ansible reads “{short}” as another playbook. Submit it as an operation of its own.")
        };
        refuse("extra_args", why);
    }
    if problems.is_empty() {
        Ok(Wanted { spec: spec(new, &arguments, default_image), arguments, options, action })
    } else {
        Err(problems)
    }
}

/// Why this playbook can't be a hook of the form. Hooks get no arguments, and without them some playbooks fail; kubespray's
/// `remove-node.yml` even removes other nodes.
fn not_a_hook(playbook: &str, catalogue: &Catalogue) -> Option<String> {
    if playbook.starts_with(NOT_REPEATABLE.trim_end()) {
        return Some(format!(
            "This form runs only playbooks of the image here, without arguments. Remove the line “{}” to run without it, or submit the operation with kubectl.",
            cut(playbook, 80)
        ));
    }
    let action = match catalogue.builtin(playbook) {
        Ok(action) => action?,
        Err(message) => return Some(message),
    };
    let needs_fields = action.parameters.iter().any(|parameter| parameter.missing.is_some());
    needs_fields.then(|| format!("{playbook} asks for values, and hooks have none. Run it as an operation of its own."))
}

/// The hook that removes a node after the action.
fn removal(then: &ThenRemove, cluster: &ClusterName) -> Option<HookAction> {
    let remove = operation::action(ACTIONS, REMOVE_NODES)?;
    let fields = named_in(REMOVE_NODES, &then.node)?;
    let mut arguments = parameters::arguments(remove, cluster.as_str(), &fields, &[]).ok()?;
    if then.gone {
        arguments.extend(WITHOUT_MACHINE.map(str::to_owned));
    }
    let extra_args = operation::join(&arguments);
    Some(HookAction { action: remove.playbook.into(), extra_args, ..HookAction::default() })
}

fn choose_from_list(action: &Action) -> String {
    format!("Choose “{}” from the list: it asks for what {} needs.", action.title, action.playbook)
}

fn spec(new: &NewOperation, arguments: &[String], default_image: &str) -> ClusterOperationSpec {
    let (text, source) = match &new.action {
        Asked::Builtin { playbook, .. } => (playbook, None),
        Asked::File { source, key } => (key, Some(DataRef::new(&source.namespace, &source.name))),
        Asked::Script(text) => (text, None),
    };
    let hooks = |playbooks: &[String]| -> Vec<HookAction> {
        playbooks.iter().map(|action| HookAction { action: action.clone(), ..HookAction::default() }).collect()
    };
    let removal = new.then_remove.as_ref().and_then(|then| removal(then, &new.cluster));
    ClusterOperationSpec {
        cluster: new.cluster.to_string(),
        action_type: if new.action.is_shell() { ActionType::Shell } else { ActionType::Playbook },
        action: text.clone(),
        image: new.image.as_ref().map_or(default_image, |image| image.as_str()).to_owned(),
        action_source: if source.is_some() { ActionSource::Configmap } else { ActionSource::Builtin },
        action_source_ref: source,
        extra_args: Some(arguments).filter(|all| !all.is_empty()).and_then(operation::join),
        pre_hook: hooks(&new.pre_hooks),
        post_hook: hooks(&new.post_hooks).into_iter().chain(removal).collect(),
        active_deadline_seconds: new.deadline.map(|deadline| i64::from(deadline.minutes()) * 60),
        ..ClusterOperationSpec::default()
    }
}

/// A generated name, such as `ping-x7k2f`: the name of the action and five random characters.
pub(crate) fn made_name(spec: &ClusterOperationSpec) -> OperationName {
    let stem = match spec.action_type {
        ActionType::Shell => "script",
        ActionType::Playbook => Path::new(&spec.action).file_stem().and_then(|s| s.to_str()).unwrap_or("run"),
    };
    let plain: String =
        stem.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    random_name(if plain.trim_matches('-').is_empty() { "run" } else { plain.trim_matches('-') })
}

/// `stem` and five random characters. `stem` has at most 40 lower-case letters, digits and “-” inside.
pub(crate) fn random_name(stem: &str) -> OperationName {
    // As in names that Kubernetes generates, no vowels and no similar characters, so that names form no words and are not
    // misread.
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    let tail: String = (0..5).map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())])).collect();
    format!("{stem}-{tail}").parse().expect("at most 46 lower-case letters, digits and “-” inside")
}

/// The operation as it will be created.
pub(crate) fn operation(
    spec: &ClusterOperationSpec,
    name: &OperationName,
    submitted_by: &str,
    expected_inputs: String,
) -> ClusterOperation {
    let spec = ClusterOperationSpec { expected_inputs: Some(expected_inputs), ..spec.clone() };
    let label = (crd::LABEL_CLUSTER_NAME.to_owned(), spec.cluster.clone());
    let mut operation = ClusterOperation::new(name.as_str(), spec);
    let annotation = (crd::ANNOTATION_SUBMITTED_BY.to_owned(), submitted_by.to_owned());
    operation.metadata.annotations = Some([annotation].into());
    operation.metadata.labels = Some([label].into());
    operation
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
