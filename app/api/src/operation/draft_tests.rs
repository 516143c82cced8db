use super::*;

fn draft(fields: &[(&str, &str)]) -> Draft {
    let filled = [
        ("cluster", "prod"),
        ("action", "ping.yml"),
        ("other", "odd.yml"),
        ("source", "ops/books"),
        ("key", "mine.yml"),
        ("script", "echo hi"),
        ("limit", "w1"),
    ];
    let all = filled.iter().chain(fields);
    Draft::typed(&all.map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect::<Vec<_>>())
}

fn refused_at(fields: &[(&str, &str)]) -> Vec<String> {
    match draft(fields).request() {
        Err(Problem::Invalid { fields, .. }) => fields.into_iter().map(|problem| problem.field).collect(),
        other => panic!("expected a refusal: {other:?}"),
    }
}

#[test]
fn every_invalid_field_is_reported() {
    for (field, value) in [
        ("cluster", ""),
        ("cluster", "a;rm -rf /"),
        ("name", "Grow;rm"),
        ("made_name", "Grow;rm"),
        ("kind", "magic"),
        ("action", ""),
        ("image", "img; rm"),
        ("deadline", "soon"),
        ("deadline", "0"),
        ("extra_args", "--limit=b"),
        ("extra_args", "a\0b"),
    ] {
        assert_eq!(refused_at(&[(field, value)]), [field], "{value:?}");
    }
    assert_eq!(refused_at(&[("name", &"a".repeat(49))]), ["name"]);
    assert_eq!(refused_at(&[("pre_hooks", &"ping.yml\n".repeat(65))]), ["pre_hooks"]);
    assert_eq!(refused_at(&[("name", "-"), ("deadline", "x")]), ["name", "deadline"]);
    assert_eq!(refused_at(&[("kind", "configmap"), ("source", "no slash")]), ["source"]);
    assert_eq!(refused_at(&[("kind", "script"), ("script", "x\0")]), ["script"]);
    assert_eq!(refused_at(&[("kind", "script"), ("script", &"x".repeat(70_000))]), ["script"]);
}

#[test]
fn only_the_fields_of_the_chosen_kind_are_used() {
    let of = |fields: &[(&str, &str)]| {
        let request = draft(fields).request().unwrap();
        (request.action, request.limit)
    };
    assert_eq!(of(&[]), (Action::builtin("ping.yml"), "w1".into()));
    let other = Action::Builtin { playbook: "odd.yml".into(), parameters: None };
    assert_eq!(of(&[("kind", "builtin"), ("action", OTHER)]), (other, "w1".into()));
    let file = |key: &str| Action::File { source: "ops/books".parse().unwrap(), key: key.into() };
    assert_eq!(of(&[("kind", "configmap")]), (file("mine.yml"), "w1".into()));
    assert_eq!(of(&[("kind", "configmap"), ("key", "fix.sh")]), (file("fix.sh"), String::new()));
    assert_eq!(of(&[("kind", "script"), ("script", "a\r\nb\r\n")]), (Action::Script("a\nb\n".into()), String::new()));
}

#[test]
fn the_size_of_a_script_is_checked_without_carriage_returns() {
    let script = |lines: usize| [("kind", "script".to_owned()), ("script", "x\r\n".repeat(lines))];
    let sent = script(SCRIPT / 2);
    let sent = sent.each_ref().map(|(field, value)| (*field, value.as_str()));
    assert_eq!(draft(&sent).request().unwrap().action, Action::Script("x\n".repeat(SCRIPT / 2)));
    let sent = script(SCRIPT / 2 + 1);
    assert_eq!(refused_at(&sent.each_ref().map(|(field, value)| (*field, value.as_str()))), ["script"]);
}

#[test]
fn other_fields_are_parameters_of_a_catalogue_action() {
    let parameters = |fields: &[(&str, &str)]| match draft(fields).request().unwrap().action {
        Action::Builtin { parameters, .. } => parameters,
        other => panic!("{other:?}"),
    };
    let typed = parameters(&[("nodes", " w3,w4 "), ("reviewed", "ab")]);
    assert_eq!(typed, Some(BTreeMap::from([("nodes".to_owned(), "w3,w4".to_owned())])));
    assert_eq!(parameters(&[("nodes", "w3"), ("action", OTHER)]), None);
}

#[test]
fn arguments_are_one_per_line_and_unchanged() {
    let request = draft(&[("extra_args", "-e\r\nmotd=it's; here\r\n\r\n")]).request().unwrap();
    assert_eq!(request.arguments, ["-e", "motd=it's; here"]);
}

#[test]
fn a_problem_with_the_action_is_moved_to_the_used_field() {
    let at = |kind: &str, action: &str| {
        let draft = draft(&[("kind", kind), ("action", action)]);
        let Problem::Invalid { fields, .. } = draft.located(Problem::field("action", "No.")) else { panic!() };
        fields[0].field.clone()
    };
    assert_eq!(
        [at("", ""), at("", OTHER), at("configmap", ""), at("script", "")],
        ["action", "other", "key", "script"]
    );
}

#[test]
fn a_config_map_without_a_name_is_not_a_builtin_playbook() {
    assert_eq!(refused_at(&[("kind", "configmap"), ("source", " ")]), ["source"]);
}

#[test]
fn a_form_changed_after_its_review_is_refused() {
    let mut draft = draft(&[("extra_args", "-e\na=1"), ("version", "1.34.4"), ("form", "review_operation")]);
    draft.set("reviewed", draft.fingerprint());
    draft.set("form", "submit_operation");
    draft.set("expected_inputs", "abc");
    draft.set("extra_args", "-e\r\na=1");
    assert_eq!(draft.unchanged_since_review(), Ok(()), "different line ends are not a change");
    draft.set("script", "rm -rf /");
    draft.set("image", "");
    assert_eq!(draft.unchanged_since_review(), Ok(()), "an unused field is not a change");
    let changed = |field: &str| {
        let mut draft = draft.clone();
        draft.set(field, "else");
        draft.unchanged_since_review().is_err()
    };
    assert!(changed("limit") && changed("version") && changed("action") && changed("cluster"));
}
