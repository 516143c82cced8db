use crd::HookAction;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;

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

#[test]
fn a_hosted_cluster_without_inventory_runs_no_operation() {
    let mut cluster = Cluster::default();
    cluster.spec.hosted = Some(crd::Hosted::default());
    let refusal = plan(&operation(), &cluster, &Found::default()).unwrap_err();
    assert_eq!(refusal.reason(), "NoInventory");
    assert!(refusal.to_string().contains("hostsConfRef"), "{refusal}");
    assert_eq!(cluster_namespace(&cluster).unwrap_err().reason(), "NoInventory");
}

#[test]
fn secret_variables_come_from_a_secret_of_their_type() {
    let at = DataRef::new("a", "sudo");
    let mut cluster = Cluster::default();
    cluster.spec.secret_vars_ref = Some(at);
    let secret = |type_: &str, key: &str, value: &[u8]| Found {
        secret_vars: Some(Secret {
            type_: Some(type_.into()),
            data: Some([(key.to_owned(), ByteString(value.to_vec()))].into()),
            ..Secret::default()
        }),
        ..Found::default()
    };
    let read = |found: &Found| secret_vars(&cluster, found).map_err(|refusal| refusal.reason());
    let text = |value: &[u8]| {
        read(&secret(crd::SECRET_VARS_TYPE, "_pin_2", value)).map(|vars| vars.unwrap()["_pin_2"].clone())
    };
    assert_eq!(text(b"hunter22\n"), Ok("hunter22".into()));
    assert_eq!(text(b"two\nlines\n"), Ok("two\nlines\n".into()));
    assert_eq!(text(b"\xff"), Err("SecretVariablesInvalid"));
    assert_eq!(read(&secret("Opaque", "pin", b"1")), Err("SecretVariablesInvalid"));
    assert_eq!(read(&secret(crd::SECRET_VARS_TYPE, "a-pin", b"1")), Err("SecretVariablesInvalid"));
    assert_eq!(read(&Found::default()), Err("ReferenceNotFound"));
}
