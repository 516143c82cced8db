//! The form as it is typed, and the operation it means.

use api::{FieldProblem, Problem, operation::NewOperation};
use serde::{Deserialize, Serialize};

/// Every field of the form, by its name there.
///
/// A form without JavaScript sends all fields, also those of the kinds that were not chosen; so each kind has its own, and
/// this says which of them count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationDraft {
    pub cluster: String,
    /// `builtin` (default), `configmap` or `script`.
    pub kind: String,
    /// A playbook of the catalogue, or [`OTHER`].
    pub action: String,
    /// A playbook of the image that is not in the catalogue.
    pub other: String,
    /// `namespace/name` of a ConfigMap.
    pub source: String,
    /// A key of it.
    pub key: String,
    pub script: String,
    /// Which nodes `remove-node.yml` removes.
    pub nodes: String,
    /// Of Kubernetes, where the playbook installs it.
    pub version: String,
    /// Not empty: `reset.yml` is meant.
    pub confirmed: String,
    pub limit: String,
    pub extra_args: String,
    pub name: String,
    pub pre_hooks: String,
    pub post_hooks: String,
    pub image: String,
    pub deadline: String,
    /// sha256 of the inputs that the review showed.
    pub expected_inputs: String,
    /// The name that the review showed.
    pub made_name: String,
    /// [`OperationDraft::fingerprint`] of what was reviewed.
    pub reviewed: String,
}

/// The choice beside the catalogue.
pub const OTHER: &str = "other";

impl OperationDraft {
    /// The operation that the form means.
    #[must_use]
    pub fn operation(&self) -> NewOperation {
        let field = self.action_field();
        let action = match field {
            "other" => &self.other,
            "key" => &self.key,
            "script" => &self.script,
            _ => &self.action,
        };
        let is_shell = field == "script" || (field == "key" && is_script(self.key.trim()));
        NewOperation {
            cluster: self.cluster.clone(),
            name: self.name.clone(),
            made_name: self.made_name.clone(),
            action_type: if is_shell { "shell" } else { "playbook" }.into(),
            action: action.clone(),
            source: if field == "key" { self.source.clone() } else { String::new() },
            // Where a script is chosen the limit is not on screen: a script runs beside the inventory, not on machines.
            limit: if is_shell { String::new() } else { self.limit.clone() },
            extra_args: self.arguments(),
            pre_hooks: self.pre_hooks.clone(),
            post_hooks: self.post_hooks.clone(),
            image: self.image.clone(),
            deadline: self.deadline.clone(),
            expected_inputs: self.expected_inputs.clone(),
        }
    }

    /// The field of the form that has this name. In the browser it takes the place of a second reader of the whole type.
    pub(super) fn field(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "cluster" => &mut self.cluster,
            "kind" => &mut self.kind,
            "action" => &mut self.action,
            "other" => &mut self.other,
            "source" => &mut self.source,
            "key" => &mut self.key,
            "script" => &mut self.script,
            "nodes" => &mut self.nodes,
            "version" => &mut self.version,
            "confirmed" => &mut self.confirmed,
            "limit" => &mut self.limit,
            "extra_args" => &mut self.extra_args,
            "name" => &mut self.name,
            "pre_hooks" => &mut self.pre_hooks,
            "post_hooks" => &mut self.post_hooks,
            "image" => &mut self.image,
            "deadline" => &mut self.deadline,
            "expected_inputs" => &mut self.expected_inputs,
            "reviewed" => &mut self.reviewed,
            _ => return None,
        })
    }

    /// The field that holds the action.
    fn action_field(&self) -> &'static str {
        match self.kind.as_str() {
            "configmap" => "key",
            "script" => "script",
            _ if self.action == OTHER => "other",
            _ => "action",
        }
    }

    /// The playbook of the catalogue that is chosen; empty where something else runs.
    pub(super) fn builtin(&self) -> &str {
        if self.action_field() == "action" { &self.action } else { "" }
    }

    /// One a line.
    fn arguments(&self) -> String {
        let mut lines = self.parameters();
        lines.extend(Some(&self.extra_args).filter(|typed| !typed.is_empty()).cloned());
        lines.join("\n")
    }

    /// A problem with the operation, said at the field of this form that it comes from.
    #[must_use]
    pub fn located(&self, problem: Problem) -> Problem {
        let Problem::Invalid { message, fields } = problem else { return problem };
        let located = |problem: FieldProblem| match problem.field.as_str() {
            "action" => FieldProblem { field: self.action_field().into(), ..problem },
            "action_type" => FieldProblem { field: "kind".into(), ..problem },
            "source" if self.action_field() == "key" && self.source.trim().is_empty() => {
                FieldProblem { message: "Name the ConfigMap, as namespace/name.".into(), ..problem }
            }
            _ => problem,
        };
        Problem::Invalid { message, fields: fields.into_iter().map(located).collect() }
    }

    /// What can be told before the server looks: a ConfigMap without a name would mean a builtin playbook.
    pub fn complete(&self) -> Result<(), Problem> {
        if self.action_field() == "key" && self.source.trim().is_empty() {
            return Err(Problem::field("source", "Name the ConfigMap, as namespace/name."));
        }
        self.checked_parameters()
    }

    /// Tells one form from another: FNV-1a over everything that the review is about.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let new = NewOperation { expected_inputs: String::new(), made_name: String::new(), ..self.operation() };
        // Browsers send line ends as CRLF, whatever was rendered.
        let text = format!("{new:?}").replace("\\r\\n", "\\n");
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        format!("{hash:016x}")
    }

    /// What is submitted must be what was reviewed: without JavaScript nothing else notices a change between.
    pub fn unchanged_since_review(&self) -> Result<(), Problem> {
        if self.reviewed == self.fingerprint() {
            return Ok(());
        }
        let message = "The form was changed after the review, so nothing was submitted. Review it once more.".into();
        Err(Problem::Invalid { message, fields: Vec::new() })
    }
}

fn is_script(key: &str) -> bool {
    std::path::Path::new(key).extension().is_some_and(|extension| extension == "sh" || extension == "bash")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> OperationDraft {
        OperationDraft {
            cluster: "prod".into(),
            action: "ping.yml".into(),
            other: "odd.yml".into(),
            source: "ops/books".into(),
            key: "mine.yml".into(),
            script: "echo hi".into(),
            limit: "w1".into(),
            ..Default::default()
        }
    }

    #[test]
    fn only_the_fields_of_the_chosen_kind_count() {
        let of = |kind: &str, action: &str| {
            let new = OperationDraft { kind: kind.into(), action: action.into(), ..filled() }.operation();
            (new.action_type, new.action, new.source, new.limit)
        };
        let told = |a: &str, b: &str, c: &str, d: &str| (a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned());
        assert_eq!(of("", "ping.yml"), told("playbook", "ping.yml", "", "w1"));
        assert_eq!(of("builtin", OTHER), told("playbook", "odd.yml", "", "w1"));
        assert_eq!(of("configmap", "ping.yml"), told("playbook", "mine.yml", "ops/books", "w1"));
        assert_eq!(of("script", "ping.yml"), told("shell", "echo hi", "", ""));
    }

    #[test]
    fn a_key_that_is_a_script_runs_as_one() {
        let draft = OperationDraft { kind: "configmap".into(), key: "fix.sh".into(), ..filled() };
        assert_eq!(draft.operation().action_type, "shell");
    }

    #[test]
    fn a_problem_is_said_where_the_person_typed() {
        let at = |kind: &str, action: &str| {
            let draft = OperationDraft { kind: kind.into(), action: action.into(), ..filled() };
            let Problem::Invalid { fields, .. } = draft.located(Problem::field("action", "No.")) else { panic!() };
            fields[0].field.clone()
        };
        assert_eq!(
            [at("", ""), at("", OTHER), at("configmap", ""), at("script", "")],
            ["action", "other", "key", "script"]
        );
    }

    #[test]
    fn a_configmap_without_a_name_is_not_a_builtin_playbook() {
        let draft = OperationDraft { kind: "configmap".into(), source: " ".into(), ..filled() };
        assert!(draft.complete().unwrap_err().at("source").is_some());
        assert!(filled().complete().is_ok());
    }

    #[test]
    fn what_was_changed_after_the_review_is_not_submitted() {
        let mut draft = filled();
        draft.extra_args = "-e\na=1".into();
        draft.reviewed = draft.fingerprint();
        draft.expected_inputs = "abc".into();
        draft.extra_args = "-e\r\na=1".into();
        assert_eq!(draft.unchanged_since_review(), Ok(()), "line ends are no change");
        draft.script = "rm -rf /".into();
        assert_eq!(draft.unchanged_since_review(), Ok(()), "a field that doesn't count is none either");
        draft.limit = String::new();
        assert!(draft.unchanged_since_review().is_err());
    }
}
