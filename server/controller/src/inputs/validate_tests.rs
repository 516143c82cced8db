use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crd::HookAction;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use private_key::Fault;

use super::*;
use crate::inputs::read::SshSecret;

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
    assert!(refusal.starts_with("postHook[1].action “../x”"), "{refusal}");
}

/// A cluster with inventory and variables, and an operation whose source is the ConfigMap `books` with this file.
fn with_source(file: &str, text: &str) -> (ClusterOperation, Cluster, Found) {
    let mut operation = operation();
    (operation.spec.action_source, operation.spec.action_source_ref) =
        (ActionSource::Configmap, Some(DataRef::new("a", "books")));
    operation.spec.action = file.into();
    let mut cluster = Cluster::default();
    (cluster.spec.hosts_conf_ref, cluster.spec.vars_conf_ref) = (DataRef::new("a", "hosts"), DataRef::new("a", "vars"));
    let mut found = Found::default();
    for (name, key, text) in
        [("hosts", crd::KEY_HOSTS, "all: {hosts: {m1: }}"), ("vars", crd::KEY_VARS, ""), ("books", file, text)]
    {
        let map = ConfigMap { data: Some([(key.to_owned(), text.to_owned())].into()), ..ConfigMap::default() };
        found.config_maps.insert(DataRef::new("a", name), map);
    }
    (operation, cluster, found)
}

#[test]
fn inputs_too_large_for_a_secret_are_refused() {
    let (operation, cluster, mut found) = with_source("scale.yml", "[]");
    assert_eq!(plan(&operation, &cluster, &found).unwrap().steps[0].path, "conf/sources/1/scale.yml");
    let books = found.config_maps.get_mut(&DataRef::new("a", "books")).unwrap();
    books.binary_data = Some([("big".to_owned(), ByteString(vec![0; SNAPSHOT_LIMIT]))].into());
    assert_eq!(plan(&operation, &cluster, &found).unwrap_err().reason(), "InputsTooLarge");
}

#[test]
fn scripts_with_the_line_ends_of_windows_or_an_old_mac_run() {
    for end in ["\r\n", "\r"] {
        scripts_run(&"set -eu\nif true; then\n  printf done\nfi\n".replace('\n', end));
    }
}

fn scripts_run(script: &str) {
    let (mut operation, cluster, mut found) = with_source("fix.sh", script);
    operation.spec.action_type = ActionType::Shell;
    operation.spec.pre_hook =
        vec![HookAction { action_type: ActionType::Shell, action: script.into(), ..HookAction::default() }];
    let books = found.config_maps.get_mut(&DataRef::new("a", "books")).unwrap();
    books.data.as_mut().unwrap().insert("for-windows.ini".into(), "a=1\r\n".into());
    let plan = plan(&operation, &cluster, &found).unwrap();
    assert_eq!(plan.sources[0]["for-windows.ini"], b"a=1\r\n", "it is no script");
    for text in [plan.scripts[0].as_bytes(), &plan.sources[0]["fix.sh"]] {
        let ran = Command::new("bash").arg("-c").arg(OsStr::from_bytes(text)).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.stdout, b"done");
    }
}

#[test]
fn scripts_of_playbooks_with_windows_line_ends_run() {
    let (operation, cluster, mut found) = with_source("play.yml", "[]\r\n");
    let books = found.config_maps.get_mut(&DataRef::new("a", "books")).unwrap();
    let given = [
        ("helper.sh", "echo done\r\n", "echo done\n"),
        ("helper", "#!/usr/bin/env python3\r\nprint(1)\r\n", "#!/usr/bin/env python3\nprint(1)\n"),
        ("archive", "#!/bin/sh\nexit\n\r\n\u{1}", "#!/bin/sh\nexit\n\r\n\u{1}"),
        ("for-windows.ini", "a=1\r\n", "a=1\r\n"),
    ];
    books.data = Some(given.map(|(name, text, _)| (name.to_owned(), text.to_owned())).into());
    books.data.as_mut().unwrap().insert("play.yml".into(), "[]\r\n".into());
    let plan = plan(&operation, &cluster, &found).unwrap();
    for (name, _, wanted) in given {
        assert_eq!(plan.sources[0][name], wanted.as_bytes(), "{name}");
    }
}

/// See `server/private_key` for all faults.
#[test]
fn a_private_key_that_ssh_can_not_use_is_refused() {
    let (mut operation, mut cluster, mut found) = with_source("scale.yml", "[]");
    cluster.spec.ssh_auth_ref = Some(DataRef::new("a", "ssh"));
    let secret = |fault, next| SshSecret {
        metadata: ObjectMeta::default(),
        keys: [crd::KEY_SSH.to_owned()].into(),
        fault,
        next: Some(NextKey { id: "0123".into(), fault: next }),
    };
    let refusal = |operation: &ClusterOperation, found: &Found| {
        plan(operation, &cluster, found).map(drop).map_err(|refusal| (refusal.reason(), refusal.to_string()))
    };
    found.ssh = Some(secret(Some(Fault::Passphrase), None));
    let (reason, sentence) = refusal(&operation, &found).unwrap_err();
    assert_eq!(reason, "PrivateKeyInvalid");
    assert!(sentence.contains("Secret a/ssh") && sentence.contains("passphrase"), "{sentence}");
    // A new key that is broken stops only its own test.
    found.ssh = Some(secret(None, Some(Fault::LastLineEnd)));
    assert_eq!(refusal(&operation, &found), Ok(()));
    operation.spec.next_ssh_key = Some("0123".into());
    let (reason, sentence) = refusal(&operation, &found).unwrap_err();
    assert!(reason == "PrivateKeyInvalid" && sentence.contains("ssh-privatekey-next"), "{reason} {sentence}");
    operation.spec.next_ssh_key = Some("4567".into());
    assert_eq!(refusal(&operation, &found).unwrap_err().0, "NextKeyChanged");
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
