//! From the submit form to an operation: checked field by field, nothing read, nothing written.

use std::path::Path;

use api::{ClusterName, FieldProblem, OperationName, operation::NewOperation};
use crd::{ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, DataRef};
use rand::Rng;

use super::{
    catalogue,
    form::{Form, TEXT},
};
use crate::Playbooks;

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

impl Draft {
    /// The file name of the playbook; None for a script.
    pub(crate) fn playbook(&self) -> Option<&str> {
        if self.spec.action_type != ActionType::Playbook {
            return None;
        }
        Path::new(&self.spec.action).file_name()?.to_str()
    }
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
        extra_args: Some(arguments.as_slice()).filter(|all| !all.is_empty()).and_then(operation::join),
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

/// `ping-x7k2f`: what the action is called, and five characters nobody has to type.
pub(crate) fn made_name(spec: &ClusterOperationSpec) -> OperationName {
    let stem = match spec.action_type {
        ActionType::Shell => "script",
        ActionType::Playbook => Path::new(&spec.action).file_stem().and_then(|s| s.to_str()).unwrap_or("run"),
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
        assert_eq!(draft.spec.extra_args.as_deref(), Some(r#"--limit=node1 -e "motd=it's; here""#));
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
