//! Fills in the form to run an earlier operation again.

use api::operation::{Draft, Kind, OTHER};
use crd::{ActionSource, ActionType, ClusterOperationSpec, HookAction};
use masking::{hide_in_arguments, hide_in_script};
use operation::{Options, action, deadline, split};

use super::catalogue::Catalogue;
use super::parameters::{TakenBack, take_back};

/// All values of the earlier operation, except its name, confirmations and secrets.
pub(crate) fn again(earlier: &ClusterOperationSpec, catalogue: &Catalogue) -> Draft {
    let mut draft = Draft::default();
    let hooks = |hooks: &[HookAction]| hooks.iter().map(|hook| hook.action.as_str()).collect::<Vec<_>>().join("\n");
    draft.set("cluster", &earlier.cluster);
    draft.set("pre_hooks", hooks(&earlier.pre_hook));
    draft.set("post_hooks", hooks(&earlier.post_hook));
    draft.set("image", &earlier.image);
    draft.set("deadline", (deadline(earlier) / 60).to_string());
    match (earlier.action_source, &earlier.action_source_ref, earlier.action_type) {
        (ActionSource::Configmap, source, _) => {
            draft.set("kind", Kind::ConfigMap.as_str());
            draft.set("source", source.as_ref().map(ToString::to_string).unwrap_or_default());
            draft.set("key", &earlier.action);
        }
        (ActionSource::Builtin, _, ActionType::Shell) => {
            draft.set("kind", Kind::Script.as_str());
            draft.set("script", hide_in_script(&earlier.action));
        }
        (ActionSource::Builtin, _, ActionType::Playbook) => {
            draft.choose(&earlier.action, action(catalogue.actions, &earlier.action).is_some());
        }
    }
    fill_arguments(&mut draft, earlier, catalogue);
    draft
}

/// Distributes the arguments to the fields: limit, parameters of the action, and extra arguments.
fn fill_arguments(draft: &mut Draft, earlier: &ClusterOperationSpec, catalogue: &Catalogue) {
    let known = (draft.kind() == Some(Kind::Builtin) && draft.get("action") != OTHER)
        .then(|| action(catalogue.actions, &earlier.action))
        .flatten();
    let mut free: Vec<String> = Vec::new();
    let mut arguments = lines(earlier.extra_args.as_deref().unwrap_or_default());
    // Of a script, it is an argument like any other.
    if earlier.action_type == ActionType::Playbook {
        let (limit, others) = Options::split_limit(&arguments);
        draft.set("limit", limit.unwrap_or_default());
        arguments = others;
    }
    for argument in hide_in_arguments(&arguments) {
        let is_variable = free.last().is_some_and(|last| last == "-e");
        match known.filter(|_| is_variable).and_then(|known| take_back(known, &argument)) {
            None => free.push(argument),
            Some(taken) => {
                free.pop();
                if let TakenBack::Field(field, value) = taken {
                    draft.set(field, value);
                }
            }
        }
    }
    draft.set("extra_args", free.join("\n"));
}

/// The arguments, one per line. If one of them can't be a line, or the text can't be split, the whole text counts as one
/// argument.
fn lines(text: &str) -> Vec<String> {
    let fits = |word: &String| !word.is_empty() && word.trim() == word && !word.contains('\n');
    split(text).filter(|words| words.iter().all(fits)).unwrap_or_else(|| vec![text.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::{super::catalogue::tests::IMAGE, *};

    fn filled(playbook: &str, arguments: &str) -> Draft {
        let earlier = ClusterOperationSpec {
            cluster: "prod".into(),
            action: playbook.into(),
            extra_args: Some(arguments.into()),
            ..Default::default()
        };
        again(&earlier, &IMAGE)
    }

    #[test]
    fn arguments_come_back_one_per_line() {
        let draft = filled("ping.yml", r"--limit=a -e 'motd=it'\''s; here' --limit=b");
        assert_eq!(
            (draft.get("limit"), draft.get("extra_args")),
            ("b", "-e\nmotd=it's; here"),
            "the last limit counts"
        );
        assert_eq!(filled("ping.yml", r#"-e "a=\"x\"" b\ c"#).get("extra_args"), "-e\na=\"x\"\nb c");
    }

    #[test]
    fn secrets_do_not_come_back() {
        assert_eq!(
            filled("ping.yml", "-e password=hunter22 --check").get("extra_args"),
            "-e\npassword=(hidden)\n--check"
        );
        let script = ClusterOperationSpec {
            action_type: ActionType::Shell,
            action: "TOKEN=hunter22\nlogin \"$TOKEN\"\n".into(),
            ..Default::default()
        };
        assert_eq!(again(&script, &IMAGE).get("script"), "TOKEN=(hidden)\nlogin \"$TOKEN\"\n");
    }

    #[test]
    fn arguments_that_cannot_be_lines_stay_one_text() {
        for text in ["-e 'open", "''", "'two\nlines'"] {
            assert_eq!(filled("ping.yml", text).get("extra_args"), text);
        }
    }

    #[test]
    fn a_variable_returns_to_its_field_and_a_confirmation_does_not() {
        let draft = filled("remove-node.yml", "-e node=w3 -e skip_confirmation=true -e kube_version=1.34.4");
        assert_eq!((draft.get("nodes"), draft.get("extra_args")), ("w3", "-e\nkube_version=1.34.4"));
        let draft = filled("reset.yml", "-e reset_confirmation=yes");
        assert_eq!((draft.get("confirmed"), draft.get("extra_args")), ("", ""));
        let draft = filled("cluster.yml", "-e kube_version=1.34.4");
        assert_eq!(draft.get("version"), "1.34.4");
    }

    #[test]
    fn the_kind_of_the_earlier_action_is_chosen() {
        let draft = filled("playbooks/odd.yml", "");
        assert_eq!((draft.get("action"), draft.get("other")), (OTHER, "playbooks/odd.yml"));
        let script =
            ClusterOperationSpec { action_type: ActionType::Shell, action: "uptime\n".into(), ..Default::default() };
        let draft = again(&script, &IMAGE);
        assert_eq!((draft.kind(), draft.get("script"), draft.get("deadline")), (Some(Kind::Script), "uptime\n", "360"));
        let file = ClusterOperationSpec {
            action: "site.yml".into(),
            action_source: ActionSource::Configmap,
            action_source_ref: Some(crd::DataRef::new("ops", "books")),
            ..Default::default()
        };
        let draft = again(&file, &IMAGE);
        assert_eq!((draft.get("source"), draft.get("key")), ("ops/books", "site.yml"));
    }
}
