//! The submit form as typed, and how it is parsed into a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Action, NewOperation};
use crate::{ClusterName, FieldProblem, OperationName, Problem};

/// The value of the field `action` for a playbook that is not in the catalogue; the field `other` names it.
pub const OTHER: &str = "other";

/// The fields of the form. All others are parameters of the chosen action.
const FIELDS: [&str; 18] = [
    "form",
    "cluster",
    "kind",
    "action",
    "other",
    "source",
    "key",
    "script",
    "limit",
    "extra_args",
    "name",
    "pre_hooks",
    "post_hooks",
    "image",
    "deadline",
    "expected_inputs",
    "made_name",
    "reviewed",
];
/// Fields that a review adds. They don't describe what to run.
const OF_REVIEW: [&str; 4] = ["form", "expected_inputs", "made_name", "reviewed"];

/// Maximum length of a script in bytes, as in the resource's schema.
const SCRIPT: usize = 65_536;
/// Maximum length of all arguments in bytes. Half of what the resource allows, because quoting may double the length.
const ARGUMENTS: usize = SCRIPT / 2;
/// Maximum number of pre-hooks, and of post-hooks, as in the resource's schema.
const HOOKS: usize = 64;

/// The typed values of the form, by field name.
///
/// Without JavaScript the browser sends all fields, even those of kinds that are not chosen. So each kind has its own fields,
/// and [`Draft::request`] reads only those of the chosen kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draft(BTreeMap<String, String>);

/// The choice under “What to run”.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A playbook of the image.
    Builtin,
    /// A file of a ConfigMap.
    ConfigMap,
    /// A script, typed into the form.
    Script,
}

impl Kind {
    /// The value in the form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::ConfigMap => "configmap",
            Self::Script => "script",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Builtin, Self::ConfigMap, Self::Script].into_iter().find(|kind| kind.as_str() == text)
    }
}

impl Draft {
    /// The form with these submitted fields. If a field occurs several times, its last value counts.
    #[must_use]
    pub fn typed(values: &[(String, String)]) -> Self {
        Self(values.iter().cloned().collect())
    }

    /// The value of a field; empty if it has none.
    #[must_use]
    pub fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    pub fn set(&mut self, field: &str, value: impl Into<String>) {
        self.0.insert(field.into(), value.into());
    }

    /// Chooses a playbook of the image; `is_offered` if it is in the catalogue.
    pub fn choose(&mut self, playbook: &str, is_offered: bool) {
        self.set("kind", Kind::Builtin.as_str());
        if is_offered {
            self.set("action", playbook);
        } else {
            self.set("action", OTHER);
            self.set("other", playbook);
        }
    }

    /// The chosen kind; `None` if the submitted value is unknown.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        match self.get("kind") {
            "" => Some(Kind::Builtin),
            text => Kind::parse(text),
        }
    }

    /// The field that holds the action.
    fn action_field(&self) -> &'static str {
        match self.kind() {
            Some(Kind::ConfigMap) => "key",
            Some(Kind::Script) => "script",
            _ if self.get("action") == OTHER => "other",
            _ => "action",
        }
    }

    /// Parses the form. Reports every field that is invalid by itself.
    pub fn request(&self) -> Result<NewOperation, Problem> {
        let mut reader = Reader { draft: self, problems: Vec::new() };
        let read = reader.request();
        match (read, Problem::fields(reader.problems)) {
            (Some(request), None) => Ok(request),
            (_, problem) => Err(problem.unwrap_or(Problem::Internal)),
        }
    }

    /// Moves a problem with the request to the form field that caused it.
    #[must_use]
    pub fn located(&self, problem: Problem) -> Problem {
        let Problem::Invalid { message, fields } = problem else { return problem };
        let located = |problem: FieldProblem| match problem.field.as_str() {
            "action" => FieldProblem { field: self.action_field().into(), ..problem },
            _ => problem,
        };
        Problem::Invalid { message, fields: fields.into_iter().map(located).collect() }
    }

    /// An FNV-1a hash of the fields that a review covers.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for (field, value) in self.0.iter().filter(|(field, value)| !value.is_empty() && self.is_used(field)) {
            // Browsers send line ends as CRLF, even if the page contained LF.
            for byte in field.bytes().chain([0]).chain(value.bytes().filter(|byte| *byte != b'\r')).chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// Refuses a form that was changed after its review. Without JavaScript, nothing else detects such a change.
    pub fn unchanged_since_review(&self) -> Result<(), Problem> {
        if self.get("reviewed") == self.fingerprint() {
            return Ok(());
        }
        let message = "The form was changed after the review, so nothing was submitted. Review it again.".into();
        Err(Problem::Invalid { message, fields: Vec::new() })
    }

    /// Whether a field belongs to the chosen kind, so that a review covers it.
    fn is_used(&self, field: &str) -> bool {
        let action = self.action_field();
        match field {
            "action" => matches!(action, "action" | "other"),
            "other" | "key" | "script" => field == action,
            "source" => action == "key",
            "limit" => action != "script",
            _ if OF_REVIEW.contains(&field) => false,
            _ => FIELDS.contains(&field) || action == "action",
        }
    }
}

/// Parses the fields and collects their problems.
struct Reader<'a> {
    draft: &'a Draft,
    problems: Vec<FieldProblem>,
}

impl<'a> Reader<'a> {
    fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(FieldProblem { field: field.into(), message: message.into() });
    }

    fn line(&self, field: &str) -> &'a str {
        self.draft.get(field).trim()
    }

    /// The parsed value of a field; `None` if the field is empty or invalid.
    fn optional<T, E: ToString>(&mut self, field: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        let text = Some(self.line(field)).filter(|text| !text.is_empty())?;
        parse(text).map_err(|error| self.refuse(field, error.to_string())).ok()
    }

    fn request(&mut self) -> Option<NewOperation> {
        if self.line("cluster").is_empty() {
            self.refuse("cluster", "Choose a cluster.");
        }
        let cluster = self.optional("cluster", ClusterName::for_new);
        let name = self.optional("name", OperationName::for_new);
        let made_name = self.optional("made_name", OperationName::for_new);
        let action = self.action();
        // A script doesn't run on machines, so the form hides this field.
        let is_shell = action.as_ref().is_some_and(Action::is_shell);
        let limit = if is_shell { String::new() } else { self.line("limit").to_owned() };
        let arguments = self.arguments(&limit);
        let (pre_hooks, post_hooks) = (self.hooks("pre_hooks"), self.hooks("post_hooks"));
        let image = self.optional("image", str::parse);
        let deadline = self.optional("deadline", str::parse);
        let expected_inputs = self.optional("expected_inputs", |sha| Ok::<_, String>(sha.to_owned()));
        Some(NewOperation {
            cluster: cluster?,
            name,
            made_name,
            action: action?,
            limit,
            arguments,
            pre_hooks,
            post_hooks,
            then_remove: None,
            image,
            deadline,
            expected_inputs,
        })
    }

    fn action(&mut self) -> Option<Action> {
        let field = self.draft.action_field();
        // Browsers send CRLF, but bash and the limit of the resource need the text as it was typed.
        let text = self.draft.get(field).replace("\r\n", "\n");
        let Some(kind) = self.draft.kind() else {
            self.refuse("kind", "Choose a playbook, a ConfigMap or a script.");
            return None;
        };
        if text.trim().is_empty() {
            self.refuse(field, "Choose what to run.");
        } else if text.len() > SCRIPT || text.contains('\0') {
            self.refuse(field, "This contains a NUL character or is longer than 64 KiB.");
        }
        Some(match kind {
            Kind::Builtin => Action::Builtin { playbook: text.trim().into(), parameters: self.parameters(field) },
            Kind::ConfigMap => {
                if self.line("source").is_empty() {
                    self.refuse("source", "Name the ConfigMap, as namespace/name.");
                }
                Action::File { source: self.optional("source", str::parse)?, key: text.trim().into() }
            }
            Kind::Script => Action::Script(text),
        })
    }

    /// Only an action that is chosen from the catalogue has fields for its parameters.
    fn parameters(&self, action_field: &str) -> Option<BTreeMap<String, String>> {
        let all = self.draft.0.iter().filter(|(field, _)| !FIELDS.contains(&field.as_str()));
        (action_field == "action").then(|| all.map(|(field, value)| (field.clone(), value.trim().to_owned())).collect())
    }

    /// One argument per line, each exactly as typed.
    fn arguments(&mut self, limit: &str) -> Vec<String> {
        let text = self.draft.get("extra_args");
        let lines: Vec<String> = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        if !limit.is_empty() && lines.iter().any(|line| line == "-l" || line.starts_with("--limit")) {
            self.refuse("extra_args", "The limit is set both here and in the field Limit. Remove one of them.");
        }
        if text.contains('\0') || text.len() > ARGUMENTS {
            self.refuse("extra_args", "The arguments are longer than 32 KiB or contain a NUL character.");
        }
        lines
    }

    /// One playbook per line.
    fn hooks(&mut self, field: &str) -> Vec<String> {
        let lines = self.draft.get(field).lines().map(str::trim).filter(|line| !line.is_empty());
        let names: Vec<String> = lines.map(str::to_owned).collect();
        if names.len() > HOOKS {
            self.refuse(field, format!("At most {HOOKS} playbooks can run here."));
        }
        names
    }
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
