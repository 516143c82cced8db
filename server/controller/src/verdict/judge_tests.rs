use api::operation::{NO_HOST_REACHED, PLAY_MATCHED_NO_HOST};
use crd::HookAction;
use serde_json::{Value, json};

use super::*;

fn operation(cancel: bool) -> ClusterOperation {
    let mut operation = ClusterOperation::default();
    operation.spec.cancel = cancel.then_some(true);
    operation
}

fn job(suspend: bool, status: &Value) -> Job {
    serde_json::from_value(json!({"metadata": {"name": "j"}, "spec": {"suspend": suspend, "activeDeadlineSeconds": 60, "template": {}}, "status": status})).unwrap()
}

fn ended_job(kind: &str, reason: &str) -> Job {
    job(false, &json!({"conditions": [{"type": kind, "status": "True", "reason": reason, "message": "Job said so"}]}))
}

fn pod(status: &Value) -> Pod {
    serde_json::from_value(json!({"metadata": {"name": "p"}, "status": status})).unwrap()
}

fn ended_pod(code: i32, reason: &str, message: &str) -> Pod {
    let terminated = json!({"exitCode": code, "reason": reason, "message": message});
    pod(
        &json!({"containerStatuses": [{"name": "kubeonkube", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": terminated}}]}),
    )
}

fn summary(rc: i32, change: impl FnOnce(&mut Value)) -> String {
    let recap = json!({"hosts": 3, "ok": 6, "changed": 1, "unreachable": 0, "failed": 0, "skipped": 0, "rescued": 0, "ignored": 0});
    let mut said = json!({"v": 1, "rc": rc, "cancelled": false, "failures": [], "message": "",
        "steps": [{"role": "main", "title": "ping.yml", "kind": "playbook", "rc": rc, "recap": recap}]});
    change(&mut said);
    said.to_string()
}

type Spoilt = (fn(&mut Value), &'static str);

fn now() -> Time {
    Time(jiff::Timestamp::from_second(1_800_000_000).unwrap())
}

/// Status, reason and message.
fn ended(operation: &ClusterOperation, job: &Job, pod: Option<&Pod>) -> (Phase, String, String) {
    match judge(operation, job, pod, true, &now()) {
        Verdict::Ended(outcome) => (outcome.status, outcome.reason, outcome.message),
        other => panic!("not ended: {other:?}"),
    }
}

fn reason(job: &Job, pod: &Pod) -> (Phase, String) {
    let (status, reason, _) = ended(&operation(false), job, Some(pod));
    (status, reason)
}

#[test]
fn success_needs_a_complete_job_and_a_good_recap() {
    let complete = ended_job("Complete", "CompletionsReached");
    let (status, _, message) =
        ended(&operation(false), &complete, Some(&ended_pod(0, "Completed", &summary(0, |_| {}))));
    assert_eq!((status, message.as_str()), (Phase::Succeeded, "ping.yml: 3 hosts, 6 tasks ok, 1 changed."));
    let spoilt: [Spoilt; 6] = [
        (|said| said["steps"][0]["recap"] = Value::Null, "NoHostsMatched"),
        (|said| said["steps"][0]["recap"]["hosts"] = json!(0), "NoHostsMatched"),
        (|said| said["steps"][0]["recap"]["unreachable"] = json!(1), "HostsUnreachable"),
        (|said| said["steps"][0]["recap"]["failed"] = json!(1), "TaskFailed"),
        (|said| said["steps"] = json!([]), "NoResult"),
        (|said| said["v"] = json!(2), "NoResult"),
    ];
    for (spoil, why) in spoilt {
        assert_eq!(reason(&complete, &ended_pod(0, "Completed", &summary(0, spoil))), (Phase::Failed, why.into()));
    }
    assert_eq!(ended(&operation(false), &complete, None).1, "NoResult", "a missing pod proves nothing");

    let mut limited = operation(false);
    limited.spec.extra_args = Some("-l n1,n2,n3".into());
    let inputs = crd::ResolvedInputs { host_count: 9, ..Default::default() };
    limited.status = Some(crd::ClusterOperationStatus { inputs: Some(inputs), ..Default::default() });
    let message = ended(&limited, &complete, Some(&ended_pod(0, "Completed", &summary(0, |_| {})))).2;
    assert_eq!(message, "ping.yml: 3 of 9 hosts, 6 tasks ok, 1 changed.");
}

#[test]
fn a_run_that_stops_early_names_the_hosts_that_are_left() {
    let message = |rc: i32, unfinished: Value, unreached: Value| {
        let said = summary(rc, |said| {
            said["steps"][0]["recap"]["failed"] = json!(1);
            said["steps"][0]["unfinished"] = unfinished;
            said["steps"][0]["unreached"] = unreached;
        });
        ended(&operation(false), &ended_job("Failed", ""), Some(&ended_pod(2, "Error", &said))).2
    };
    let hosts = |count: u32, hosts: &[&str]| json!({"count": count, "hosts": hosts});
    let failed = "ping.yml: 1 failed task, 0 of 3 hosts unreachable.";
    let of = |unreached| message(2, hosts(0, &[]), unreached);
    assert_eq!(of(hosts(2, &["n3", "n4"])), format!("{failed} Not reached: n3, n4."));
    assert_eq!(of(hosts(9, &["n3", "n4"])), format!("{failed} Not reached: n3, n4 and 7 more."));
    assert_eq!(of(hosts(9, &[])), format!("{failed} Not reached: 9 hosts."));
    let both = message(2, hosts(1, &["n2"]), hosts(2, &["n3", "n4"]));
    assert_eq!(both, format!("{failed} Not finished: n2. Not reached: n3, n4."));
    let given_up = summary(4, |said| {
        said["steps"][0]["recap"] = Value::Null;
        said["steps"][0]["unfinished"] = hosts(1, &["n1"]);
    });
    let message = ended(&operation(false), &ended_job("Failed", ""), Some(&ended_pod(2, "Error", &given_up))).2;
    assert_eq!(message, "ping.yml ended with exit code 4. Not finished: n1.");
    let quoted = summary(4, |said| {
        said["message"] = json!("play.yml, line 3: no such module (ping.yml ended with exit code 4 after 2 tasks).");
        said["steps"][0]["unreached"] = hosts(1, &["n2"]);
    });
    let message = ended(&operation(false), &ended_job("Failed", ""), Some(&ended_pod(4, "Error", &quoted))).2;
    assert!(message.ends_with("after 2 tasks). Not reached: n2."), "{message}");
}

#[test]
fn a_failed_run_says_how_many_hosts_failed_beside_those_named() {
    let message = |failures: Value, hosts: u32| {
        let said = summary(2, |said| {
            (said["steps"][0]["recap"]["failed"], said["steps"][0]["recap"]["hosts"]) = (json!(hosts), json!(9));
            (said["failures"], said["failed_hosts"]) = (failures, json!(hosts));
        });
        ended(&operation(false), &ended_job("Failed", ""), Some(&ended_pod(2, "Error", &said))).2
    };
    let failed = |host: &str| json!({"host": host, "task": "Install", "message": format!("{host} is full.")});
    let mut same = failed("n1");
    assert_eq!(
        message(json!([same]), 1),
        "n1: task “Install”: n1 is full (ping.yml: 1 failed task, 0 of 9 hosts unreachable)."
    );
    same["hosts"] = json!({"count": 8, "hosts": ["n1", "n2", "n3", "n4", "n5"]});
    let named = "n1, n2, n3, n4, n5 and 3 more: task “Install”: n1 is full";
    assert_eq!(message(json!([same]), 8), format!("{named} (ping.yml: 8 failed tasks, 0 of 9 hosts unreachable)."));
    let each = json!([failed("n1"), failed("n2"), same]);
    let first = "n1: task “Install”: n1 is full; n2: task “Install”: n2 is full";
    let result = "ping.yml: 11 failed tasks, 0 of 9 hosts unreachable";
    assert_eq!(message(each, 11), format!("{first}; {named}; 1 more host failed ({result})."));
}

#[test]
fn a_play_of_an_own_playbook_without_hosts_is_a_warning() {
    let said = summary(0, |said| {
        said["steps"][0]["unmatched"] = json!([{"play": "Upgrade the workers", "names": ["workers"]}]);
    });
    let mut operation = operation(false);
    let ended = |operation: &ClusterOperation| {
        ended(operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said)))
    };
    assert_eq!(ended(&operation).1, "Succeeded", "a playbook of the image");
    operation.spec.action_source = crd::ActionSource::Configmap;
    let (status, reason, message) = ended(&operation);
    assert_eq!((status, reason.as_str()), (Phase::Succeeded, PLAY_MATCHED_NO_HOST));
    let why = "The play “Upgrade the workers” matched no host: the inventory has no “workers”.";
    assert!(message.starts_with(&format!("{why} ping.yml:")), "{message}");
    let more = said.replace("\"unmatched\"", "\"unmatched_plays\":3,\"unmatched\"");
    let message = self::ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &more))).2;
    assert!(message.starts_with(&format!("{why} 2 more plays matched no host. ping.yml:")), "{message}");

    for (pattern, why) in [("gpu", "“gpu” selects none of the inventory"), ("", "its list of hosts is empty")] {
        let said = summary(0, |said| {
            said["steps"][0]["unmatched"] = json!([{"play": "Drivers", "names": [], "pattern": pattern}]);
        });
        let message = self::ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said))).2;
        assert!(message.starts_with(&format!("The play “Drivers” matched no host: {why}. ping.yml:")), "{message}");
    }

    let said = summary(0, |said| {
        said["steps"][0]["unreachable"] = json!({"count": 2, "hosts": ["n1", "n2"]});
    });
    let pod = ended_pod(0, "Completed", &said);
    let (status, reason, message) = self::ended(&operation, &ended_job("Complete", ""), Some(&pod));
    assert_eq!((status, reason.as_str()), (Phase::Succeeded, NO_HOST_REACHED));
    assert!(message.starts_with("ping.yml reached no machine: n1, n2 were unreachable"), "{message}");

    for (reached, reason) in [(false, NO_HOST_REACHED), (true, "Succeeded")] {
        let said = summary(0, |said| {
            let step = &mut said["steps"][0];
            (step["reached"], step["untouched"]) = (json!(reached), json!({"count": 1, "hosts": ["n2"]}));
        });
        let pod = ended_pod(0, "Completed", &said);
        let (_, is, message) = self::ended(&operation, &ended_job("Complete", ""), Some(&pod));
        assert_eq!(is, reason);
        let why = "ping.yml reached no machine: on n2, only tasks succeeded that need no connection to it, such as debug. ping.yml: ";
        assert_eq!(message.starts_with(why), !reached, "{message}");
    }

    let said = summary(0, |said| {
        let step = &mut said["steps"][0];
        (step["reached"], step["unreachable"]) = (json!(true), json!({"count": 1, "hosts": ["n2"]}));
        (step["recap"]["ignored"], step["recap"]["rescued"]) = (json!(2), json!(1));
    });
    let pod = ended_pod(0, "Completed", &said);
    let (_, reason, message) = self::ended(&operation, &ended_job("Complete", ""), Some(&pod));
    let said = "ping.yml: 3 hosts, 4 tasks ok, 1 changed, 2 failures ignored, 1 failure rescued. Unreachable, which was ignored: n2.";
    assert_eq!((reason.as_str(), message.as_str()), ("Succeeded", said));

    operation.spec.action_source = crd::ActionSource::Builtin;
    let long = format!("{}.yml", "after".repeat(30));
    let hook = |source| crd::HookAction { action: long.clone(), action_source: source, ..Default::default() };
    let said = summary(0, |said| {
        let mut after = said["steps"][0].clone();
        (after["role"], after["title"]) = (json!("post"), json!(operation::cut(&long, 100)));
        after["unmatched"] = json!([{"play": "Upgrade the workers", "names": ["workers"]}]);
        said["steps"].as_array_mut().unwrap().push(after);
    });
    for (source, reason) in
        [(crd::ActionSource::Configmap, PLAY_MATCHED_NO_HOST), (crd::ActionSource::Builtin, "Succeeded")]
    {
        operation.spec.post_hook = vec![hook(source)];
        let pod = ended_pod(0, "Completed", &said);
        assert_eq!(self::ended(&operation, &ended_job("Complete", ""), Some(&pod)).1, reason, "a hook");
    }
}

#[test]
fn a_run_that_did_nothing_says_why() {
    let says = |arguments: &str, left: u32| {
        let said = summary(0, |said| {
            said["steps"][0]["recap"] = Value::Null;
            said["steps"][0]["unreached"] = json!({"count": left, "hosts": []});
        });
        let mut operation = operation(false);
        operation.spec.extra_args = Some(arguments.into());
        let (_, reason, message) =
            ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said)));
        format!("{reason}: {message}")
    };
    assert!(says("", 0).starts_with("NoHostsMatched: ping.yml matched no host"));
    assert!(says("--vers", 0).starts_with("NothingRun: With --version, ansible only prints"));
    assert!(says("--tags nothing", 2).starts_with("NoTasks: ping.yml ran no task: none was chosen."));
    assert_eq!(says("", 2), "NoTasks: ping.yml ran no task: its plays have none, or ended before one.");
}

#[test]
fn a_check_says_what_would_change() {
    let mut operation = operation(false);
    operation.spec.extra_args = Some("-DC".into());
    let message = |operation: &ClusterOperation| {
        let pod = ended_pod(0, "Completed", &summary(0, |_| {}));
        ended(operation, &ended_job("Complete", ""), Some(&pod)).2
    };
    assert_eq!(message(&operation), "ping.yml: 3 hosts, 6 tasks ok, 1 would change.");
}

#[test]
fn a_failed_check_says_that_it_was_one() {
    let message = |arguments: &str, cancel: bool, job: &Job, said: &str| {
        let mut operation = operation(cancel);
        operation.spec.extra_args = Some(arguments.into());
        ended(&operation, job, Some(&ended_pod(2, "Error", said))).2
    };
    let task = summary(2, |said| said["steps"][0]["recap"]["failed"] = json!(6));
    let unmatched = summary(0, |said| said["steps"][0]["recap"] = Value::Null);
    let unreachable = summary(4, |said| said["steps"][0]["recap"]["unreachable"] = json!(3));
    let unread = summary(4, |said| said["message"] = json!("play.yml, line 3: no such module."));
    let stopped = summary(143, |said| said["cancelled"] = json!(true));
    let suspended = job(true, &json!({"active": 0, "conditions": [{"type": "Suspended", "status": "True"}]}));
    for (cancel, job, said) in [
        (false, ended_job("Failed", ""), &task),
        (false, ended_job("Failed", ""), &unread),
        (false, ended_job("Failed", "DeadlineExceeded"), &stopped),
        (false, ended_job("Complete", ""), &task),
        (false, ended_job("Complete", ""), &unmatched),
        (false, ended_job("Failed", ""), &unreachable),
        (false, ended_job("Failed", ""), &String::new()),
        (true, suspended, &stopped),
    ] {
        let expected = format!("{} The operation was only a check.", message("", cancel, &job, said));
        assert_eq!(message("--check", cancel, &job, said), expected);
        assert_eq!(message("-DC", cancel, &job, said), expected);
    }
    // A hook has its own arguments.
    let hooked = summary(2, |said| {
        let hook = json!({"role": "pre", "title": "before.yml", "kind": "playbook", "rc": 0});
        said["steps"] = json!([hook, said["steps"][0].clone()]);
    });
    let job = ended_job("Failed", "");
    assert_eq!(message("--check", false, &job, &hooked), message("", false, &job, &hooked));
    let mut killed = operation(false);
    (killed.spec.extra_args, killed.spec.pre_hook) = (Some("--check".into()), vec![HookAction::default()]);
    let message = ended(&killed, &job, Some(&ended_pod(137, "Error", ""))).2;
    assert!(!message.contains("only a check"), "{message}");
}

#[test]
fn a_check_with_hooks_says_what_really_changed() {
    let message = |arguments: &str, hook: &str| {
        let hook =
            |action: &str| HookAction { action: action.into(), extra_args: Some(hook.into()), ..HookAction::default() };
        let mut operation = operation(false);
        operation.spec.extra_args = Some(arguments.into());
        (operation.spec.pre_hook, operation.spec.post_hook) = (vec![hook("before.yml")], vec![hook("after.yml")]);
        let said = summary(0, |said| {
            let step = |role: &str, title: &str, changed: u32| {
                let recap = json!({"hosts": 3, "ok": 4, "changed": changed});
                json!({"role": role, "title": title, "kind": "playbook", "rc": 0, "recap": recap})
            };
            let main = said["steps"][0].clone();
            said["steps"] = json!([step("pre", "before.yml", 0), main, step("post", "after.yml", 2)]);
        });
        ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said))).2
    };
    let said = |changes: &str| format!("ping.yml: 3 hosts, 14 tasks ok, {changes}.");
    assert_eq!(message("--check", ""), said("1 would change, 2 changed by hooks"));
    assert_eq!(message("--check", "-C"), said("3 would change"));
    assert_eq!(message("", "-C"), said("1 changed, 2 would be changed by hooks"));
    assert_eq!(message("", ""), said("3 changed"));
}

#[test]
fn a_run_says_what_tasks_would_change_that_only_check() {
    let message = |arguments: Option<&str>| {
        let mut operation = operation(false);
        operation.spec.extra_args = arguments.map(Into::into);
        let said = summary(0, |said| said["steps"][0]["would_change"] = json!(2));
        ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said))).2
    };
    assert_eq!(message(None), "ping.yml: 3 hosts, 6 tasks ok, 1 changed, 2 would change.");
    assert_eq!(message(Some("--check")), "ping.yml: 3 hosts, 6 tasks ok, 3 would change.");
}

#[test]
fn a_check_names_the_hosts_that_it_has_really_changed() {
    let mut operation = operation(false);
    operation.spec.extra_args = Some("--check".into());
    let said = |rc: i32| {
        summary(rc, |said| {
            let step = &mut said["steps"][0];
            (step["made"], step["made_changes"]) = (json!({"count": 1, "hosts": ["n2"]}), json!(2));
            step["recap"]["changed"] = json!(3);
        })
    };
    let really = "Really changed, by tasks with check_mode: false: n2.";
    let succeeded = ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said(0)))).2;
    assert_eq!(succeeded, format!("ping.yml: 3 hosts, 6 tasks ok, 1 would change. {really}"));
    let failed = ended(&operation, &ended_job("Failed", ""), Some(&ended_pod(2, "Error", &said(2)))).2;
    assert_eq!(failed, format!("ping.yml ended with exit code 2. The operation was only a check. {really}"));
}

#[test]
fn a_run_in_which_everything_was_skipped_says_so() {
    let message = |skipped: u32, arguments: &str| {
        let said = summary(0, |said| {
            said["steps"][0]["recap"] = json!({"hosts": 3, "skipped": skipped});
        });
        let mut operation = operation(false);
        operation.spec.extra_args = Some(arguments.into());
        ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said))).2
    };
    assert_eq!(message(6, ""), "ping.yml: 3 hosts, every task was skipped.");
    assert_eq!(message(1, ""), "ping.yml: 3 hosts, every task was skipped.");
    for check in ["--check", "-C", "-CD"] {
        assert_eq!(message(6, check), "ping.yml: 3 hosts, every task was skipped, 0 would change.");
    }
}

#[test]
fn a_run_that_connected_to_no_machine_is_a_warning() {
    let judged = |recap: Value, reached: bool| {
        let said = summary(0, |said| {
            let step = &mut said["steps"][0];
            (step["recap"], step["reached"]) = (recap, json!(reached));
            step["untouched"] = json!({"count": 2, "hosts": ["n1", "n2"]});
        });
        let (status, reason, message) =
            ended(&operation(false), &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said)));
        assert_eq!(status, Phase::Succeeded);
        format!("{reason}: {message}")
    };
    let skipped = json!({"hosts": 2, "skipped": 6});
    let warned = "NoHostReached: ping.yml reached no machine: no task connected to n1, n2. ping.yml: 2 hosts, ";
    assert_eq!(judged(skipped.clone(), false), format!("{warned}every task was skipped."));
    assert_eq!(judged(skipped, true), "Succeeded: ping.yml: 2 hosts, every task was skipped.", "on the machine");
    let ignored = json!({"hosts": 2, "ok": 2, "skipped": 2, "ignored": 2});
    assert_eq!(judged(ignored, false), format!("{warned}0 tasks ok, 0 changed, 2 failures ignored."));
}

#[test]
fn a_message_of_a_machine_never_reverses_the_text() {
    let said = summary(2, |said| {
        said["steps"][0]["recap"]["failed"] = json!(1);
        said["failures"] = json!([{"host": "n1", "task": "Say", "message": "safe \u{202e}gpj.exe"}]);
    });
    let message = ended(&operation(false), &ended_job("Failed", ""), Some(&ended_pod(2, "Error", &said))).2;
    assert!(message.starts_with("n1: task “Say”: safe <U+202E>gpj.exe ("), "{message}");
}

#[test]
fn a_success_names_the_hosts_that_it_has_not_begun() {
    let message = |arguments: &str, recap: Value, names: &[&str]| {
        let said = summary(0, |said| {
            (said["steps"][0]["recap"], said["steps"][0]["reached"]) = (recap, json!(true));
            said["steps"][0]["unreached"] = json!({"count": names.len(), "hosts": names});
            // On all hosts.
            let hook =
                json!({"role": "pre", "title": "before.yml", "kind": "playbook", "rc": 0, "recap": {"hosts": 6}});
            said["steps"] = json!([hook, said["steps"][0].clone()]);
        });
        let mut operation = operation(false);
        operation.spec.extra_args = Some(arguments.into());
        let inputs = crd::ResolvedInputs { host_count: 9, ..Default::default() };
        operation.status = Some(crd::ClusterOperationStatus { inputs: Some(inputs), ..Default::default() });
        let (_, reason, message) =
            ended(&operation, &ended_job("Complete", ""), Some(&ended_pod(0, "Completed", &said)));
        assert_eq!(reason, "Succeeded");
        message
    };
    let recap = json!({"hosts": 6, "ok": 3});
    let rest = ["n4", "n5", "n6"];
    let ok = "3 tasks ok, 0 changed. Not reached: n4, n5, n6.";
    assert_eq!(message("", recap.clone(), &rest), format!("ping.yml: 3 of 6 hosts, {ok}"));
    assert_eq!(message("-l a", recap, &rest), format!("ping.yml: 3 of 9 hosts, {ok}"));
    let skipped = message("", json!({"hosts": 6, "skipped": 3}), &rest);
    assert_eq!(skipped, "ping.yml: 3 of 6 hosts, every task was skipped. Not reached: n4, n5, n6.");
}

#[test]
fn a_run_without_its_hooks_is_no_success() {
    let mut operation = operation(false);
    operation.spec.post_hook = vec![crd::HookAction::default()];
    let pod = ended_pod(0, "Completed", &summary(0, |_| {}));
    assert_eq!(ended(&operation, &ended_job("Complete", ""), Some(&pod)).1, "NoResult");
}

#[test]
fn a_script_is_judged_by_its_exit_code_alone() {
    let script = |rc: i32| {
        summary(rc, |said| (said["steps"][0]["kind"], said["steps"][0]["recap"]) = (json!("shell"), Value::Null))
    };
    assert_eq!(
        reason(&ended_job("Complete", ""), &ended_pod(0, "Completed", &script(0))),
        (Phase::Succeeded, "Succeeded".into())
    );
    assert_eq!(
        reason(&ended_job("Failed", ""), &ended_pod(3, "Error", &script(3))),
        (Phase::Failed, "ScriptFailed".into())
    );
}

#[test]
fn a_failure_names_its_cause() {
    let failed = ended_job("Failed", "BackoffLimitExceeded");
    for (pod, why) in [
        (ended_pod(137, "OOMKilled", ""), "OOMKilled"),
        (
            ended_pod(
                2,
                "Error",
                &summary(2, |said| said["message"] = json!("There is no playbook pong.yml in the image.")),
            ),
            "RunFailed",
        ),
        (
            ended_pod(
                143,
                "Error",
                &summary(143, |said| (said["cancelled"], said["steps"]) = (json!(true), json!([]))),
            ),
            "Interrupted",
        ),
        (
            ended_pod(4, "Error", &summary(4, |said| said["steps"][0]["recap"]["unreachable"] = json!(2))),
            "HostsUnreachable",
        ),
        (pod(&json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."})), "Evicted"),
        (pod(&json!({"conditions": [{"type": "DisruptionTarget", "status": "True"}]})), "Disrupted"),
        (pod(&json!({"phase": "Failed", "message": "the process is gone"})), "PodLost"),
    ] {
        assert_eq!(reason(&failed, &pod), (Phase::Failed, why.into()));
    }
    let stopped = summary(143, |said| (said["cancelled"], said["steps"]) = (json!(true), json!([])));
    let mut deleted = ended_pod(143, "Error", &stopped);
    deleted.metadata.deletion_timestamp = Some(now());
    assert_eq!(reason(&failed, &deleted), (Phase::Failed, "PodDeleted".into()));
    let mut killed = ended_pod(137, "Error", "");
    assert_ne!(reason(&failed, &killed).1, "PodDeleted");
    killed.metadata.deletion_timestamp = Some(now());
    assert_eq!(reason(&failed, &killed).1, "PodDeleted");
    let mut late = ended_pod(2, "Error", "");
    late.metadata.deletion_timestamp = Some(now());
    assert_ne!(reason(&failed, &late).1, "PodDeleted", "it had ended by itself");
    let lost = pod(&json!({"phase": "Failed", "message": "the process is gone"}));
    assert!(ended(&operation(false), &failed, Some(&lost)).2.contains("the process is gone"));
    assert_eq!(ended(&operation(false), &ended_job("Failed", "DeadlineExceeded"), None).1, "DeadlineExceeded");
}

#[test]
fn a_verdict_waits_for_the_end_of_the_pod() {
    let running = pod(&json!({"phase": "Running"}));
    for kind in ["Complete", "Failed"] {
        assert_eq!(judge(&operation(false), &ended_job(kind, ""), Some(&running), false, &now()), Verdict::Unclear);
        assert_eq!(judge(&operation(false), &ended_job(kind, ""), None, false, &now()), Verdict::Unclear);
    }
}

#[test]
fn a_cancelled_run_names_the_tasks_in_flight() {
    let said = summary(143, |said| {
        said["cancelled"] = json!(true);
        said["running"] = json!({"task": "Upgrade", "hosts": ["w1", "w2"]});
    });
    let (status, reason, message) =
        ended(&operation(true), &job(true, &json!({"active": 1})), Some(&ended_pod(143, "Error", &said)));
    assert_eq!((status, reason.as_str()), (Phase::Failed, "Cancelled"));
    assert_eq!(message, "The run was cancelled while task “Upgrade” was in flight on w1, w2.");
    let suspended = |status: &str| json!({"conditions": [{"type": "Suspended", "status": "True"}], status: 1});
    assert_eq!(ended(&operation(true), &job(true, &suspended("failed")), None).1, "Cancelled");
    for still in ["active", "terminating"] {
        let verdict = judge(&operation(true), &job(true, &suspended(still)), None, true, &now());
        assert!(matches!(verdict, Verdict::Running { reason: "Cancelling", .. }), "{still}");
    }
}

#[test]
fn a_run_that_was_over_before_the_cancel_keeps_its_result() {
    let pod = ended_pod(0, "Completed", &summary(0, |_| {}));
    assert_eq!(ended(&operation(true), &ended_job("Complete", ""), Some(&pod)).0, Phase::Succeeded);
}

#[test]
fn a_pod_that_cannot_start_says_why() {
    let waiting = |reason: &str| {
        pod(
            &json!({"containerStatuses": [{"name": "kubeonkube", "image": "", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": reason, "message": "not found"}}}]}),
        )
    };
    let said = |pod: &Pod| judge(&operation(false), &job(false, &json!({"active": 1})), Some(pod), false, &now());
    assert_eq!(
        said(&waiting("ImagePullBackOff")),
        Verdict::Running { reason: "PodWaiting", message: "The pod can't start: ImagePullBackOff: not found".into() }
    );
    assert_eq!(
        said(&waiting("InstallingAnsible")),
        Verdict::Running { reason: "PodWaiting", message: "Preparing: not found".into() },
        "a slow start is not a failure"
    );
    assert!(matches!(said(&waiting("ContainerCreating")), Verdict::Running { reason: "Running", .. }));
}

#[test]
fn without_the_inputs_only_numbers_are_quoted() {
    let said = |change: fn(&mut Value)| {
        let (job, pod) = (ended_job("Failed", "BackoffLimitExceeded"), ended_pod(2, "Error", &summary(2, change)));
        let Verdict::Ended(quoted) = judge(&operation(false), &job, Some(&pod), true, &now()) else {
            panic!("not ended")
        };
        unquoted(&operation(false), &job, Some(&pod), quoted, &now()).message
    };
    let words: [fn(&mut Value); 5] = [
        |said| said["message"] = json!("cannot open hush"),
        |said| (said["cancelled"], said["running"]) = (json!(true), json!({"task": "hush", "hosts": ["hush"]})),
        |said| said["failures"] = json!([{"host": "hush", "task": "hush", "message": "hush"}]),
        |said| said["steps"][0]["title"] = json!("hush"),
        |said| *said = json!("hush"),
    ];
    for change in words {
        let message = said(change);
        assert!(!message.contains("hush") && message.contains("are gone"), "{message}");
    }
}
