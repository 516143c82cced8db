//! The fields of the submit form, each turned into what the resource holds, or refused with a sentence.

use api::FieldProblem;
use crd::{DataRef, HookAction};

use super::{
    arguments::{lines, names},
    catalogue,
};
use crate::Playbooks;

/// Longest deadline: a week, in minutes.
const LONGEST: i64 = 7 * 24 * 60;
/// Most hooks, each way, and most bytes of an action or its arguments: what the resource allows.
const HOOKS: usize = 64;
pub(super) const TEXT: usize = 65_536;

/// What was found wrong so far.
pub(super) struct Form {
    pub(super) problems: Vec<FieldProblem>,
}

impl Form {
    pub(super) fn refuse<T>(&mut self, field: &str, message: impl Into<String>) -> Option<T> {
        self.problems.push(FieldProblem { field: field.to_owned(), message: message.into() });
        None
    }

    pub(super) fn parsed<T, E: ToString>(&mut self, field: &str, value: Result<T, E>) -> Option<T> {
        value.map_or_else(|error| self.refuse(field, error.to_string()), Some)
    }

    /// `namespace/name` of a ConfigMap.
    pub(super) fn source(&mut self, text: &str) -> Option<DataRef> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let at = text.split_once('/').map(|(namespace, name)| DataRef::new(namespace, name)).filter(DataRef::can_exist);
        at.or_else(|| {
            self.refuse("source", "Write the ConfigMap as namespace/name, or leave this empty for a builtin playbook.")
        })
    }

    pub(super) fn arguments(&mut self, text: &str, limit: &str) -> (Vec<String>, Vec<String>) {
        let mut arguments = lines(text);
        let mut warnings = Vec::new();
        for argument in &arguments {
            if let Some((option, _)) =
                argument.split_once(' ').filter(|(option, _)| option.starts_with("--") && !option.contains('='))
            {
                warnings.push(format!("“{option} …” is one argument with a space in it. Write {option}=…, or the value on a line of its own."));
            }
            if !limit.is_empty() && (argument == "-l" || argument.starts_with("--limit")) {
                self.refuse::<()>("extra_args", "There is a limit both here and in its own field. Keep one of them.");
            }
        }
        if !limit.is_empty() {
            arguments.insert(0, format!("--limit={limit}"));
        }
        if text.contains('\0') || text.len() > TEXT / 2 {
            self.refuse::<()>("extra_args", "These are more than 32 KiB of arguments, or hold a NUL character.");
        }
        (arguments, warnings)
    }

    pub(super) fn hooks(&mut self, field: &str, text: &str, playbooks: Playbooks) -> Vec<HookAction> {
        let names = names(text);
        if names.len() > HOOKS {
            self.refuse::<()>(field, format!("At most {HOOKS} playbooks can run here."));
        }
        if let Some(refused) = names.iter().find_map(|name| catalogue::builtin(name, playbooks).err()) {
            self.refuse::<()>(field, refused);
        }
        names.into_iter().take(HOOKS).map(|action| HookAction { action, ..HookAction::default() }).collect()
    }

    pub(super) fn image(&mut self, typed: &str, default: &str) -> String {
        let image = typed.trim();
        let ok = |c: char| c.is_ascii_alphanumeric() || "./:_@-".contains(c);
        if image.is_empty() {
            return default.to_owned();
        }
        if image.len() > 512 || !image.chars().all(ok) || !image.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            self.refuse::<()>("image", "This is no image. Write it like registry.example.com/kubespray:v2.30.0.");
        }
        image.to_owned()
    }

    pub(super) fn deadline(&mut self, typed: &str) -> Option<i64> {
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        match typed.parse::<i64>() {
            Ok(minutes) if (1..=LONGEST).contains(&minutes) => Some(minutes * 60),
            _ => self.refuse(
                "deadline",
                format!(
                    "Write minutes, from 1 to {LONGEST} (a week), or leave this empty for {}.",
                    operation::DEFAULT_DEADLINE.as_secs() / 60
                ),
            ),
        }
    }
}
