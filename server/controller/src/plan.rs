//! What an operation will run, with nothing left to look up or to doubt.

use std::collections::BTreeMap;

use api::run::StepRole;
use crd::{ActionSource, ActionType, Cluster, ClusterOperation, DataRef, HookAction};
use serde::Serialize;

/// Everything the snapshot and the Job are made from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// Where Job and snapshot live.
    pub(crate) namespace: String,
    pub(crate) hosts_yml: String,
    pub(crate) vars_yml: String,
    pub(crate) known_hosts: Option<String>,
    /// How many requests it took to read all this.
    pub(crate) reads: usize,
    pub(crate) steps: Vec<Step>,
    /// ConfigMaps with playbooks and scripts; number i of the paths is position i - 1.
    pub(crate) sources: Vec<BTreeMap<String, Vec<u8>>>,
    /// Texts of scripts that stand in the operation itself, numbered the same way.
    pub(crate) scripts: Vec<String>,
}

/// One step as the entrypoint reads it from `steps.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    pub(crate) role: StepRole,
    /// `playbook` or `shell`.
    pub(crate) kind: ActionType,
    /// Below `$KUBEONKUBE_ROOT`.
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) args: Vec<String>,
}

/// One step as the user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked<'a> {
    pub(crate) role: StepRole,
    /// How a refusal names it.
    pub(crate) place: String,
    pub(crate) kind: ActionType,
    pub(crate) action: &'a str,
    pub(crate) source: ActionSource,
    pub(crate) source_ref: Option<&'a DataRef>,
    pub(crate) extra_args: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn hook(role: StepRole, place: String, hook: &'a HookAction) -> Self {
        Self {
            role,
            place,
            kind: hook.action_type,
            action: &hook.action,
            source: hook.action_source,
            source_ref: hook.action_source_ref.as_ref(),
            extra_args: hook.extra_args.as_deref(),
        }
    }

    /// One line that says what runs.
    pub(crate) fn title(&self) -> String {
        title(self.kind, self.source, self.action)
    }
}

/// The steps of an operation in their order: the cluster's pre-check, hooks before, the action, hooks after.
pub(crate) fn asked<'a>(operation: &'a ClusterOperation, cluster: Option<&'a Cluster>) -> Vec<Asked<'a>> {
    let spec = &operation.spec;
    let check = cluster.and_then(|cluster| cluster.spec.pre_check_ref.as_ref()).map(|at| Asked {
        role: StepRole::Pre,
        place: "The cluster's pre-check".into(),
        kind: ActionType::Playbook,
        action: crd::KEY_PRECHECK,
        source: ActionSource::Configmap,
        source_ref: Some(at),
        extra_args: None,
    });
    let hooks = |role, name: &'static str, hooks: &'a [HookAction]| {
        hooks
            .iter()
            .enumerate()
            .map(move |(n, hook)| Asked::hook(role, format!("`{name}[{n}].action`"), hook))
            .collect::<Vec<_>>()
    };
    let main = Asked {
        role: StepRole::Main,
        place: "`action`".into(),
        kind: spec.action_type,
        action: &spec.action,
        source: spec.action_source,
        source_ref: spec.action_source_ref.as_ref(),
        extra_args: spec.extra_args.as_deref(),
    };
    check
        .into_iter()
        .chain(hooks(StepRole::Pre, "preHook", &spec.pre_hook))
        .chain([main])
        .chain(hooks(StepRole::Post, "postHook", &spec.post_hook))
        .collect()
}

/// `status.action`: the playbook, or the first telling line of a script.
pub(crate) fn title(kind: ActionType, source: ActionSource, action: &str) -> String {
    let line = match (kind, source) {
        (ActionType::Shell, ActionSource::Builtin) => {
            action.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("script")
        }
        _ => action,
    };
    crate::sentence::cut(line, 60)
}
