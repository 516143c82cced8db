use crd::HookAction;
use k8s_openapi::ByteString;

use super::*;

fn operation() -> ClusterOperation {
    let mut operation = ClusterOperation::default();
    operation.metadata.name = Some("grow".into());
    operation.spec.cluster = "prod".into();
    (operation.spec.action, operation.spec.image) = ("scale.yml".into(), "image".into());
    operation
}

fn refused(change: fn(&mut ClusterOperation)) -> &'static str {
    let mut operation = operation();
    change(&mut operation);
    submission(&operation).expect_err("it is refused").reason()
}

#[test]
fn a_bad_value_is_refused_before_anything_is_read() {
    assert_eq!(submission(&operation()), Ok(()));
    assert_eq!(refused(|o| o.metadata.name = Some("a".repeat(49))), "NameTooLong");
    assert_eq!(refused(|o| o.spec.cluster = "a;rm".into()), "ClusterNameInvalid");
    assert_eq!(refused(|o| o.spec.image = " ".into()), "ImageMissing");
    assert_eq!(refused(|o| o.spec.action = String::new()), "ActionInvalid");
    assert_eq!(refused(|o| o.spec.active_deadline_seconds = Some(0)), "DeadlineInvalid");
    assert_eq!(refused(|o| o.spec.extra_args = Some("--limit 'a".into())), "ExtraArgsInvalid");
    assert_eq!(refused(|o| o.spec.extra_args = Some("a\0b".into())), "ExtraArgsInvalid");
    assert_eq!(refused(|o| o.spec.action_source = ActionSource::Configmap), "ActionNotFound");
    assert_eq!(refused(|o| o.spec.pre_hook = vec![HookAction::default()]), "ActionInvalid");
}

#[test]
fn a_refused_hook_is_named() {
    let mut operation = operation();
    operation.spec.post_hook = vec![
        HookAction { action: "ok.yml".into(), ..HookAction::default() },
        HookAction { action: "../x".into(), ..HookAction::default() },
    ];
    let refusal = submission(&operation).unwrap_err().to_string();
    assert!(refusal.starts_with("`postHook[1].action` `../x`"), "{refusal}");
}

#[test]
fn inputs_too_large_for_a_secret_are_refused() {
    let mut operation = operation();
    (operation.spec.action_source, operation.spec.action_source_ref) =
        (ActionSource::Configmap, Some(DataRef::new("a", "books")));
    let mut cluster = Cluster::default();
    (cluster.spec.hosts_conf_ref, cluster.spec.vars_conf_ref) = (DataRef::new("a", "hosts"), DataRef::new("a", "vars"));
    let map =
        |key: &str, text: String| ConfigMap { data: Some([(key.to_owned(), text)].into()), ..ConfigMap::default() };
    let mut books = map("scale.yml", "[]".into());
    let mut found = Found::default();
    found.config_maps.insert(DataRef::new("a", "hosts"), map(crd::KEY_HOSTS, "all: {hosts: {m1: }}".into()));
    found.config_maps.insert(DataRef::new("a", "vars"), map(crd::KEY_VARS, String::new()));
    found.config_maps.insert(DataRef::new("a", "books"), books.clone());
    assert_eq!(plan(&operation, &cluster, &found).unwrap().steps[0].path, "conf/sources/1/scale.yml");
    books.binary_data = Some([("big".to_owned(), ByteString(vec![0; SNAPSHOT_LIMIT]))].into());
    found.config_maps.insert(DataRef::new("a", "books"), books);
    assert_eq!(plan(&operation, &cluster, &found).unwrap_err().reason(), "InputsTooLarge");
}
