//! The steps of an operation: as its spec defines them, and as its run gets them.

use api::run::StepRole;
use crd::{ActionSource, ActionType, ClusterOperationSpec, ClusterSpec, DataRef, HookAction};
use serde::Serialize;

use crate::actions::JOIN;
use crate::title::{cut, step_title};
use crate::{arguments, is_playbook_path};

/// The folder of the image's playbooks, relative to `$KUBEONKUBE_ROOT`.
const PLAYBOOKS: &str = "kubespray";

/// One step as the operation or its cluster defines it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<'a> {
    /// Before, main or after.
    pub role: StepRole,
    /// Its name in error texts: `` `preHook[0].action` ``.
    pub place: String,
    /// Playbook or script.
    pub kind: ActionType,
    /// The playbook's path, the ConfigMap's key, or the text of a script.
    pub action: &'a str,
    /// `Builtin`: a playbook of the image, or a script in the operation itself.
    pub source: ActionSource,
    /// The ConfigMap, if `source` is `Configmap`.
    pub source_ref: Option<&'a DataRef>,
    /// All arguments in one text; see [`split`](crate::split).
    pub extra_args: Option<&'a str>,
}

/// Why a step can't run on any cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The action is empty.
    #[error("{place} is empty. Say what to run.")]
    NoAction {
        /// See [`Asked::place`].
        place: String,
    },
    /// A path outside the image's playbooks.
    #[error(
        "{place} “{action}” is not the path of a playbook in the image: it must be relative, like “scale.yml” or “playbooks/facts.yml”, without “..”."
    )]
    ActionPath {
        /// See [`Asked::place`].
        place: String,
        /// The action, shortened.
        action: String,
    },
    /// The action comes from a ConfigMap, but there is no reference to one.
    #[error("{place} comes from a ConfigMap, but actionSourceRef doesn't say which one.")]
    NoSource {
        /// See [`Asked::place`].
        place: String,
    },
    /// The arguments can't be split into words.
    #[error(
        "{place} has extra arguments that can't be split into words: a quote is not closed, or a backslash ends the text."
    )]
    ExtraArgs {
        /// See [`Asked::place`].
        place: String,
    },
}

/// One step as the entrypoint reads it from `steps.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Before, main or after.
    pub role: StepRole,
    /// `playbook` or `shell`.
    pub kind: ActionType,
    /// Relative to `$KUBEONKUBE_ROOT`.
    pub path: String,
    /// One line for logs and events.
    pub title: String,
    /// Further arguments.
    pub args: Vec<String>,
}

impl Step {
    /// Whether it joins machines to a hosted cluster.
    pub fn joins(&self) -> bool {
        self.path == format!("{PLAYBOOKS}/{JOIN}")
    }
}

/// All steps of a run, and the files that they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSteps {
    /// In the order in which they run.
    pub steps: Vec<Step>,
    /// ConfigMaps whose keys are playbooks and scripts. The files of index n are in `conf/sources/<n + 1>`.
    pub sources: Vec<DataRef>,
    /// Scripts in the operation itself, without the CR of Windows line ends. Index n is `conf/scripts/<n + 1>.sh`.
    pub scripts: Vec<String>,
}

/// The steps of an operation in their order: the cluster's pre-check, the pre-hooks, the action, the post-hooks.
pub fn asked<'a>(operation: &'a ClusterOperationSpec, cluster: Option<&'a ClusterSpec>) -> Vec<Asked<'a>> {
    let check = cluster.and_then(|cluster| cluster.pre_check_ref.as_ref()).map(|at| Asked {
        role: StepRole::Pre,
        place: "The cluster's pre-check".into(),
        kind: ActionType::Playbook,
        action: crd::KEY_PRECHECK,
        source: ActionSource::Configmap,
        source_ref: Some(at),
        extra_args: None,
    });
    let before = Asked::hooks(StepRole::Pre, "preHook", &operation.pre_hook);
    let after = Asked::hooks(StepRole::Post, "postHook", &operation.post_hook);
    check.into_iter().chain(before).chain([Asked::main(operation)]).chain(after).collect()
}

/// The steps and files of an operation's run. ConfigMaps and scripts are numbered in the order in which steps first use them.
pub fn steps(operation: &ClusterOperationSpec, cluster: &ClusterSpec) -> Result<RunSteps, StepError> {
    let mut run = RunSteps::default();
    for asked in asked(operation, Some(cluster)) {
        asked.check()?;
        let path = run.place(&asked)?;
        run.steps.push(Step {
            role: asked.role,
            kind: asked.kind,
            path,
            title: step_title(asked.kind, asked.source, asked.action),
            args: asked.arguments()?,
        });
    }
    Ok(run)
}

impl<'a> Asked<'a> {
    fn main(operation: &'a ClusterOperationSpec) -> Self {
        Self {
            role: StepRole::Main,
            place: "action".into(),
            kind: operation.action_type,
            action: &operation.action,
            source: operation.action_source,
            source_ref: operation.action_source_ref.as_ref(),
            extra_args: operation.extra_args.as_deref(),
        }
    }

    fn hooks(role: StepRole, field: &'static str, hooks: &'a [HookAction]) -> impl Iterator<Item = Self> {
        hooks.iter().enumerate().map(move |(n, hook)| Self {
            role,
            place: format!("{field}[{n}].action"),
            kind: hook.action_type,
            action: &hook.action,
            source: hook.action_source,
            source_ref: hook.action_source_ref.as_ref(),
            extra_args: hook.extra_args.as_deref(),
        })
    }

    /// Checks everything that doesn't depend on the content of ConfigMaps or the image.
    pub fn check(&self) -> Result<(), StepError> {
        let place = || self.place.clone();
        if self.action.trim().is_empty() {
            return Err(StepError::NoAction { place: place() });
        }
        match (self.source, self.kind) {
            (ActionSource::Builtin, ActionType::Playbook) if !is_playbook_path(self.action) => {
                Err(StepError::ActionPath { place: place(), action: cut(self.action, 80) })
            }
            (ActionSource::Configmap, _) if self.source_ref.is_none() => Err(StepError::NoSource { place: place() }),
            _ => self.arguments().map(drop),
        }
    }

    fn arguments(&self) -> Result<Vec<String>, StepError> {
        let split = arguments::split(self.extra_args.unwrap_or_default());
        split.ok_or_else(|| StepError::ExtraArgs { place: self.place.clone() })
    }
}

impl RunSteps {
    /// The path of the step's file in the run. Adds the file to the run.
    fn place(&mut self, asked: &Asked<'_>) -> Result<String, StepError> {
        Ok(match (asked.source, asked.kind, asked.source_ref) {
            (ActionSource::Builtin, ActionType::Playbook, _) => format!("{PLAYBOOKS}/{}", asked.action),
            (ActionSource::Builtin, ActionType::Shell, _) => {
                self.scripts.push(unix_line_ends(asked.action));
                format!("conf/scripts/{}.sh", self.scripts.len())
            }
            (ActionSource::Configmap, _, None) => return Err(StepError::NoSource { place: asked.place.clone() }),
            (ActionSource::Configmap, _, Some(at)) => {
                let known = self.sources.iter().position(|source| source == at);
                let index = known.unwrap_or_else(|| {
                    self.sources.push(at.clone());
                    self.sources.len() - 1
                });
                format!("conf/sources/{}/{}", index + 1, asked.action)
            }
        })
    }
}

/// The script with line feeds. A CR is a line end before a line feed (Windows), or if there are no line feeds (old Mac).
fn unix_line_ends(script: &str) -> String {
    if script.contains('\n') { script.replace("\r\n", "\n") } else { script.replace('\r', "\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str) -> Option<DataRef> {
        Some(DataRef::new("ns", name))
    }

    fn playbook(action: &str) -> ClusterOperationSpec {
        ClusterOperationSpec { action: action.into(), ..Default::default() }
    }

    #[test]
    fn steps_keep_their_order_and_their_files_are_numbered() {
        let own = HookAction {
            action: "own.yml".into(),
            action_source: ActionSource::Configmap,
            action_source_ref: at("own"),
            ..HookAction::default()
        };
        let script = HookAction { action_type: ActionType::Shell, action: "uptime".into(), ..HookAction::default() };
        let operation = ClusterOperationSpec {
            pre_hook: vec![script.clone(), HookAction { action: "facts.yml".into(), ..HookAction::default() }],
            post_hook: vec![own.clone(), script, own],
            extra_args: Some("--limit=a -e 'x=1 2'".into()),
            ..playbook("ping.yml")
        };
        let cluster = ClusterSpec { pre_check_ref: at("check"), ..ClusterSpec::default() };
        let run = steps(&operation, &cluster).unwrap();
        let seen: Vec<_> = run.steps.iter().map(|step| (step.role, step.path.as_str())).collect();
        assert_eq!(
            seen,
            [
                (StepRole::Pre, "conf/sources/1/precheck.yml"),
                (StepRole::Pre, "conf/scripts/1.sh"),
                (StepRole::Pre, "kubespray/facts.yml"),
                (StepRole::Main, "kubespray/ping.yml"),
                (StepRole::Post, "conf/sources/2/own.yml"),
                (StepRole::Post, "conf/scripts/2.sh"),
                (StepRole::Post, "conf/sources/2/own.yml"),
            ]
        );
        assert_eq!(run.steps[3].args, ["--limit=a", "-e", "x=1 2"]);
        assert_eq!((run.sources, run.scripts.len()), (vec![at("check").unwrap(), at("own").unwrap()], 2));
    }

    /// Browsers send CR LF. bash would read the CR as a part of each command, and a script with only CR as one line.
    #[test]
    fn scripts_have_the_line_ends_of_unix() {
        let scripts = ["set -e\r\nprintf 'a\\r'\r\n", "#!/bin/bash\recho a\r", "printf 'a\rb'\n"];
        let hook = |script: &str| HookAction {
            action_type: ActionType::Shell,
            action: script.into(),
            ..HookAction::default()
        };
        let operation = ClusterOperationSpec { pre_hook: scripts.map(hook).into(), ..playbook("ping.yml") };
        let expected = ["set -e\nprintf 'a\\r'\n", "#!/bin/bash\necho a\n", "printf 'a\rb'\n"];
        assert_eq!(steps(&operation, &ClusterSpec::default()).unwrap().scripts, expected);
    }

    #[test]
    fn an_error_names_the_field_of_the_invalid_step() {
        let hook = |action: &str| HookAction { action: action.into(), ..HookAction::default() };
        let operation = ClusterOperationSpec { post_hook: vec![hook("ok.yml"), hook("../x")], ..playbook("ping.yml") };
        let error = steps(&operation, &ClusterSpec::default()).unwrap_err().to_string();
        assert!(error.starts_with("postHook[1].action “../x”"), "{error}");
        let empty = asked(&playbook(" "), None)[0].check();
        assert_eq!(empty, Err(StepError::NoAction { place: "action".into() }));
        let no_source = ClusterOperationSpec { action_source: ActionSource::Configmap, ..playbook("a.yml") };
        assert!(matches!(asked(&no_source, None)[0].check(), Err(StepError::NoSource { .. })));
    }

    #[test]
    fn k16_extra_arguments_become_words_and_nothing_is_expanded() {
        let mut operation = playbook("ping.yml");
        operation.extra_args = Some(r#"-e '{"a": 1}' --limit="w1;rm -rf /" $(id) `id` $HOME *"#.into());
        assert_eq!(
            steps(&operation, &ClusterSpec::default()).unwrap().steps[0].args,
            ["-e", r#"{"a": 1}"#, "--limit=w1;rm -rf /", "$(id)", "`id`", "$HOME", "*"]
        );
    }
}
