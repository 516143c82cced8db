//! Fills in the form to run an earlier operation again.

use api::operation::{Draft, Kind, OTHER, is_shell_file};
use crd::{ActionSource, ActionType, ClusterOperationSpec, HookAction};
use masking::{hide_in_arguments, hide_in_script};
use operation::{Options, action, cut, deadline, is_playbook_path, split};

use super::catalogue::Catalogue;
use super::detail::shown_hook;
use super::kubespray::is_limited_upgrade;
use super::parameters::{TakenBack, take_back};

/// The start of a value that the form can't express. The plan refuses it, so that it is neither lost nor run as something else.
pub(super) const NOT_REPEATABLE: &str = "(not repeatable) ";
/// Maximum length of such a value, in characters.
const LONGEST: usize = 200;

/// All values of the earlier operation, except its name, confirmations and secrets.
pub(crate) fn again(earlier: &ClusterOperationSpec, catalogue: &Catalogue) -> Draft {
    let mut draft = Draft::default();
    let hooks = |hooks: &[HookAction]| {
        hooks.iter().map(|hook| hook_line(hook, earlier, catalogue)).collect::<Vec<_>>().join("\n")
    };
    draft.set("cluster", &earlier.cluster);
    draft.set("pre_hooks", hooks(&earlier.pre_hook));
    draft.set("post_hooks", hooks(&earlier.post_hook));
    draft.set("image", &earlier.image);
    draft.set("deadline", (deadline(earlier).saturating_add(59) / 60).to_string());
    match (earlier.action_source, &earlier.action_source_ref, earlier.action_type) {
        (ActionSource::Configmap, source, kind) => {
            let key = hide_in_script(&earlier.action);
            // The form tells by the name whether bash or ansible runs the file.
            let unlike_its_name = match kind {
                ActionType::Shell if !is_shell_file(&key) => format!("{NOT_REPEATABLE}script "),
                ActionType::Playbook if is_shell_file(&key) => format!("{NOT_REPEATABLE}playbook "),
                _ => String::new(),
            };
            draft.set("kind", Kind::ConfigMap.as_str());
            draft.set("source", source.as_ref().map(ToString::to_string).unwrap_or_default());
            draft.set("key", unlike_its_name + &key);
        }
        (ActionSource::Builtin, _, ActionType::Shell) => {
            draft.set("kind", Kind::Script.as_str());
            draft.set("script", hide_in_script(&earlier.action));
        }
        (ActionSource::Builtin, _, ActionType::Playbook) => {
            draft.choose(&hide_in_script(&earlier.action), action(catalogue.actions, &earlier.action).is_some());
        }
    }
    fill_arguments(&mut draft, earlier, catalogue);
    draft
}

/// A hook as a line of the form, which takes the names of playbooks.
fn hook_line(hook: &HookAction, earlier: &ClusterOperationSpec, catalogue: &Catalogue) -> String {
    let is_playbook = (hook.action_type, hook.action_source) == (ActionType::Playbook, ActionSource::Builtin)
        && is_playbook_path(&hook.action);
    let has_arguments = hook.extra_args.as_ref().is_some_and(|arguments| !arguments.trim().is_empty());
    if is_playbook && (!has_arguments || is_limited_upgrade(hook, earlier, catalogue.playbooks)) {
        return hook.action.clone();
    }
    format!("{NOT_REPEATABLE}{}", cut(&shown_hook(hook), LONGEST))
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
    fn hooks_that_the_form_cannot_express_are_named_without_secrets() {
        let hook = |change: fn(&mut HookAction)| {
            let mut hook = HookAction { action: "ping.yml".into(), ..HookAction::default() };
            change(&mut hook);
            hook
        };
        let hooks = vec![
            hook(|hook| hook.extra_args = Some(String::new())),
            hook(|hook| {
                (hook.action_type, hook.action) =
                    (ActionType::Shell, "PASS=hkPw5Zulu; echo hook $PASS\nexit 1\n".into());
            }),
            hook(|hook| hook.extra_args = Some("-e password=hkPw5Zulu --check".into())),
            hook(|hook| {
                (hook.action_source, hook.action_source_ref) =
                    (ActionSource::Configmap, Some(crd::DataRef::new("ops", "books")));
            }),
            hook(|hook| hook.action = "a.yml\nreset.yml".into()),
            hook(|hook| hook.action = "password=hkPw5Zulu".into()),
        ];
        let earlier = ClusterOperationSpec {
            action: "ping.yml".into(),
            pre_hook: hooks.clone(),
            post_hook: hooks,
            ..Default::default()
        };
        let draft = again(&earlier, &IMAGE);
        let lines = [
            "ping.yml",
            "(not repeatable) script: PASS=(hidden); echo hook $PASS exit 1",
            "(not repeatable) ping.yml, arguments: -e 'password=(hidden)' --check",
            "(not repeatable) ping.yml from ConfigMap ops/books",
            "(not repeatable) a.yml reset.yml",
            "(not repeatable) password=(hidden)",
        ];
        for field in ["pre_hooks", "post_hooks"] {
            assert_eq!(draft.get(field).lines().collect::<Vec<_>>(), lines);
        }
    }

    #[test]
    fn an_upgrade_that_the_console_limits_is_repeated() {
        let hook = HookAction {
            action: "upgrade-cluster.yml".into(),
            extra_args: Some("--limit=m4".into()),
            ..HookAction::default()
        };
        let line = |image: &str, limit: &str| {
            let earlier = ClusterOperationSpec {
                action: "cluster.yml".into(),
                extra_args: Some(format!("--limit={limit}")),
                image: image.into(),
                post_hook: vec![hook.clone()],
                ..Default::default()
            };
            again(&earlier, &IMAGE).get("post_hooks").to_owned()
        };
        let kubespray = "quay.io/kubespray/kubespray:v2.30.0";
        assert_eq!(line(kubespray, "m4"), "upgrade-cluster.yml");
        let not_repeatable = "(not repeatable) upgrade-cluster.yml, arguments: --limit=m4";
        assert_eq!([line(kubespray, "m5"), line("own:1", "m4")], [not_repeatable; 2]);
    }

    #[test]
    fn a_file_that_runs_otherwise_than_named_is_not_repeated() {
        let key = |kind: ActionType, key: &str| {
            let earlier = ClusterOperationSpec {
                action_type: kind,
                action: key.into(),
                action_source: ActionSource::Configmap,
                ..Default::default()
            };
            again(&earlier, &IMAGE).get("key").to_owned()
        };
        assert_eq!(key(ActionType::Shell, "fix.sh"), "fix.sh");
        assert_eq!(key(ActionType::Shell, "fix"), "(not repeatable) script fix");
        assert_eq!(key(ActionType::Playbook, "site.sh"), "(not repeatable) playbook site.sh");
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
        let short = ClusterOperationSpec { active_deadline_seconds: Some(90), ..script };
        assert_eq!(again(&short, &IMAGE).get("deadline"), "2", "not less time than before");
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
