//! From the submit form to an operation: checked field by field, nothing read, nothing written.

use api::{ClusterName, FieldProblem, OperationName, operation::NewOperation};
use crd::{ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, DataRef, HookAction};
use rand::Rng;

use super::{
    arguments::{lines, names, quoted},
    catalogue,
};
use crate::Playbooks;

/// Longest deadline: a week, in minutes.
const LONGEST: i64 = 7 * 24 * 60;
/// Most hooks, each way, and most bytes of an action or its arguments: what the resource allows.
const HOOKS: usize = 64;
const TEXT: usize = 65_536;

/// What is asked for, as far as the form alone can tell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) cluster: ClusterName,
    /// None: to be made from the action.
    pub(crate) name: Option<OperationName>,
    /// The name is the person's own, not made by a review.
    pub(crate) is_typed: bool,
    pub(crate) limit: String,
    /// Of the action, the limit first.
    pub(crate) arguments: Vec<String>,
    /// A ConfigMap that must hold `action`.
    pub(crate) source: Option<DataRef>,
    pub(crate) spec: ClusterOperationSpec,
    /// Whether it changes machines, where that is known.
    pub(crate) changes: Option<bool>,
    pub(crate) warnings: Vec<String>,
}

/// Everything that is wrong with the form by itself, or the draft.
pub(crate) fn draft(new: &NewOperation, playbooks: Playbooks, default_image: &str) -> Result<Draft, Vec<FieldProblem>> {
    let mut form = Form { problems: Vec::new() };
    let cluster: Option<ClusterName> = match new.cluster.as_str() {
        "" => form.refuse("cluster", "Choose a cluster."),
        name => form.parsed("cluster", ClusterName::for_new(name)),
    };
    let (typed, made) = (new.name.trim(), new.made_name.trim());
    let name = match if typed.is_empty() { made } else { typed } {
        "" => None,
        name => form.parsed("name", OperationName::for_new(name)),
    };
    let action_type = match new.action_type.as_str() {
        "" | "playbook" => ActionType::Playbook,
        "shell" => ActionType::Shell,
        _ => form.refuse("action_type", "Choose playbook or script.").unwrap_or_default(),
    };
    let source = form.source(&new.source);
    let builtin_playbook = source.is_none() && new.source.trim().is_empty() && action_type == ActionType::Playbook;
    let action = if action_type == ActionType::Shell && source.is_none() {
        new.action.replace("\r\n", "\n")
    } else {
        new.action.trim().to_owned()
    };
    let mut changes = None;
    if action.trim().is_empty() {
        form.refuse::<()>("action", "Choose what to run.");
    } else if action.len() > TEXT || action.contains('\0') {
        form.refuse::<()>("action", "This is no script: it holds a NUL character, or more than 64 KiB.");
    } else if builtin_playbook {
        changes = form.parsed("action", catalogue::builtin(&action, playbooks)).flatten();
    }
    let limit = new.limit.trim().to_owned();
    if action_type == ActionType::Shell && !limit.is_empty() {
        form.refuse::<()>(
            "limit",
            "A script runs once beside the inventory, not on machines: it can't be limited to some.",
        );
    }
    let (arguments, warnings) = form.arguments(&new.extra_args, &limit);
    let pre_hook = form.hooks("pre_hooks", &new.pre_hooks, playbooks);
    let post_hook = form.hooks("post_hooks", &new.post_hooks, playbooks);
    let image = form.image(&new.image, default_image);
    let deadline = form.deadline(&new.deadline);
    let spec = ClusterOperationSpec {
        cluster: cluster.as_ref().map(ToString::to_string).unwrap_or_default(),
        action_type,
        action,
        image,
        action_source: if source.is_some() { ActionSource::Configmap } else { ActionSource::Builtin },
        action_source_ref: source.clone(),
        extra_args: (!arguments.is_empty()).then(|| arguments.iter().map(|a| quoted(a)).collect::<Vec<_>>().join(" ")),
        pre_hook,
        post_hook,
        active_deadline_seconds: deadline,
        ..ClusterOperationSpec::default()
    };
    match (cluster, form.problems.is_empty()) {
        (Some(cluster), true) => {
            let is_typed = !typed.is_empty();
            Ok(Draft { cluster, name, is_typed, limit, arguments, source, spec, changes, warnings })
        }
        _ => Err(form.problems),
    }
}

struct Form {
    problems: Vec<FieldProblem>,
}

impl Form {
    fn refuse<T>(&mut self, field: &str, message: impl Into<String>) -> Option<T> {
        self.problems.push(FieldProblem { field: field.to_owned(), message: message.into() });
        None
    }

    fn parsed<T, E: ToString>(&mut self, field: &str, value: Result<T, E>) -> Option<T> {
        value.map_or_else(|error| self.refuse(field, error.to_string()), Some)
    }

    /// `namespace/name` of a ConfigMap.
    fn source(&mut self, text: &str) -> Option<DataRef> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        match text.split_once('/') {
            Some((namespace, name)) if is_object_name(namespace, 63) && is_object_name(name, 253) => {
                Some(DataRef::new(namespace, name))
            }
            _ => self
                .refuse("source", "Write the ConfigMap as namespace/name, or leave this empty for a builtin playbook."),
        }
    }

    fn arguments(&mut self, text: &str, limit: &str) -> (Vec<String>, Vec<String>) {
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

    fn hooks(&mut self, field: &str, text: &str, playbooks: Playbooks) -> Vec<HookAction> {
        let names = names(text);
        if names.len() > HOOKS {
            self.refuse::<()>(field, format!("At most {HOOKS} playbooks can run here."));
        }
        if let Some(refused) = names.iter().find_map(|name| catalogue::builtin(name, playbooks).err()) {
            self.refuse::<()>(field, refused);
        }
        names.into_iter().take(HOOKS).map(|action| HookAction { action, ..HookAction::default() }).collect()
    }

    fn image(&mut self, typed: &str, default: &str) -> String {
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

    fn deadline(&mut self, typed: &str) -> Option<i64> {
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        match typed.parse::<i64>() {
            Ok(minutes) if (1..=LONGEST).contains(&minutes) => Some(minutes * 60),
            _ => self.refuse(
                "deadline",
                format!("Write minutes, from 1 to {LONGEST} (a week), or leave this empty for 360."),
            ),
        }
    }
}

/// RFC 1123: letters, digits, `-` and (in a longer one) `.`.
pub(crate) fn is_object_name(text: &str, limit: usize) -> bool {
    let edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= limit
        && bytes.first().is_some_and(edge)
        && bytes.last().is_some_and(edge)
        && bytes.iter().all(|b| edge(b) || *b == b'-' || (*b == b'.' && limit > 63))
}

/// `ping-x7k2f`: what the action is called, and five characters nobody has to type.
pub(crate) fn made_name(spec: &ClusterOperationSpec) -> OperationName {
    let stem = match spec.action_type {
        ActionType::Shell => "script",
        ActionType::Playbook => {
            std::path::Path::new(&spec.action).file_stem().and_then(|s| s.to_str()).unwrap_or("run")
        }
    };
    let plain: String =
        stem.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let stem = if plain.trim_matches('-').is_empty() { "run" } else { plain.trim_matches('-') };
    // Without vowels and look-alikes, as Kubernetes makes names: no words, no misreadings.
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = rand::rng();
    let tail: String = (0..5).map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())])).collect();
    format!("{stem}-{tail}").parse().expect("at most 46 lower-case letters, digits and “-” inside")
}

/// The operation as it will be created.
pub(crate) fn operation(
    draft: &Draft,
    name: &OperationName,
    submitted_by: &str,
    expected_inputs: String,
) -> ClusterOperation {
    let mut operation = ClusterOperation::new(
        name.as_str(),
        ClusterOperationSpec { expected_inputs: Some(expected_inputs), ..draft.spec.clone() },
    );
    let annotation = (crd::ANNOTATION_SUBMITTED_BY.to_owned(), submitted_by.to_owned());
    operation.metadata.annotations = Some([annotation].into());
    operation.metadata.labels = Some([(crd::LABEL_CLUSTER_NAME.to_owned(), draft.spec.cluster.clone())].into());
    operation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(change: impl FnOnce(&mut NewOperation)) -> NewOperation {
        let mut new = NewOperation { cluster: "prod".into(), action: "ping.yml".into(), ..Default::default() };
        change(&mut new);
        new
    }

    fn drafted(change: impl FnOnce(&mut NewOperation)) -> Result<Draft, Vec<FieldProblem>> {
        draft(&new(change), Playbooks::Local, "default/image:1")
    }

    fn refused_at(change: impl FnOnce(&mut NewOperation)) -> Vec<String> {
        drafted(change).expect_err("it is refused").into_iter().map(|p| p.field).collect()
    }

    #[test]
    fn every_bad_field_is_named() {
        assert_eq!(refused_at(|n| n.cluster = String::new()), ["cluster"]);
        assert_eq!(refused_at(|n| n.cluster = "a;rm -rf /".into()), ["cluster"]);
        assert_eq!(refused_at(|n| n.name = "Grow;rm".into()), ["name"]);
        assert_eq!(refused_at(|n| n.name = "a".repeat(49)), ["name"]);
        assert_eq!(refused_at(|n| n.action_type = "magic".into()), ["action_type"]);
        assert_eq!(refused_at(|n| n.action = "../../etc/passwd".into()), ["action"]);
        assert_eq!(refused_at(|n| n.action = "cluster.yml".into()), ["action"]);
        assert_eq!(refused_at(|n| n.source = "no slash".into()), ["source"]);
        assert_eq!(refused_at(|n| n.image = "img; rm".into()), ["image"]);
        assert_eq!(refused_at(|n| n.deadline = "soon".into()), ["deadline"]);
        assert_eq!(refused_at(|n| n.deadline = "0".into()), ["deadline"]);
        assert_eq!(refused_at(|n| n.pre_hooks = "ping.yml\nnope.yml".into()), ["pre_hooks"]);
        assert_eq!(
            refused_at(|n| {
                n.limit = "a".into();
                n.extra_args = "--limit=b".into();
            }),
            ["extra_args"]
        );
        assert_eq!(
            refused_at(|n| {
                n.action_type = "shell".into();
                n.action = "x\0".into();
            }),
            ["action"]
        );
        assert_eq!(
            refused_at(|n| {
                n.name = "-".into();
                n.deadline = "x".into();
            }),
            ["name", "deadline"]
        );
    }

    #[test]
    fn arguments_reach_the_resource_as_words_that_split_back() {
        let draft = drafted(|n| {
            n.limit = "node1".into();
            n.extra_args = "-e\nmotd=it's; here\n\n".into();
            n.deadline = "30".into();
        })
        .unwrap();
        assert_eq!(draft.spec.extra_args.as_deref(), Some(r"--limit=node1 -e 'motd=it'\''s; here'"));
        assert_eq!((draft.spec.active_deadline_seconds, draft.spec.image.as_str()), (Some(1800), "default/image:1"));
        assert_eq!(draft.changes, Some(false));
    }

    #[test]
    fn a_made_name_tells_the_action_and_fits() {
        let spec = |action: &str| ClusterOperationSpec { action: action.into(), ..Default::default() };
        let name = made_name(&spec("playbooks/Upgrade_Cluster.yml"));
        assert!(name.as_str().starts_with("upgrade-cluster-") && name.as_str().len() == 21, "{name}");
        assert!(made_name(&spec(&format!("{}.yml", "x".repeat(200)))).as_str().len() <= 48);
        assert!(made_name(&spec("....yml")).as_str().starts_with("run-"));
        assert_ne!(made_name(&spec("a.yml")), made_name(&spec("a.yml")));
    }
}
