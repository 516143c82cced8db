use api::log::LogLine;
use api::operation::RunEnd;
use api::run::{EventBody, HostResult, HostStats, StepRole};

use super::super::sentences::tests::{detail, ends, progress, task};
use super::*;

/// A run in which each of these hosts has ended the task “Apply”.
fn applied(hosts: &[(&str, HostResult, &str)]) -> RunProgress {
    let ended = hosts.iter().map(|(host, result, message)| ends(1, host, *result, message));
    progress([task(1, "Apply")].into_iter().chain(ended).collect())
}

/// The sentence of the known cause that a message tells.
fn sentence(message: &str) -> Option<String> {
    Some(Cause::of(message).expect("a known cause").sentence.to_owned())
}

#[test]
fn the_reason_names_task_host_message_and_lines() {
    let reported = applied(&[
        ("w1", HostResult::Ok, ""),
        ("w2", HostResult::Failed, "disk full"),
        ("w3", HostResult::Unreachable, "no route"),
    ]);
    let reason = reason(&detail(Phase::Failed, "2 of 3 hosts failed."), &reported, &[]).unwrap();
    assert_eq!(reason.title, "“Apply” failed on w2");
    assert_eq!((reason.text.as_str(), reason.quote.as_str()), ("2 of 3 hosts failed.", "disk full"));
    assert_eq!(reason.lines.unwrap().fragment(), "#L5-L6");
    assert_eq!(reason.others[0].title, "w3 was unreachable during “Apply”");
}

#[test]
fn a_run_that_needs_all_its_hosts_is_repeated_on_all() {
    let stats = |failed| HostStats { failed, ok: 1, ..HostStats::default() };
    let recap = EventBody::Stats { hosts: [("w1".into(), stats(0)), ("w2".into(), stats(1))].into() };
    let reported = progress(vec![task(1, "Apply"), ends(1, "w2", HostResult::Failed, "disk full"), recap]);
    let said = |detail: OperationDetail| {
        let reason = reason(&detail, &reported, &[]).unwrap();
        (reason.partial, reason.next)
    };
    assert_eq!(said(detail(Phase::Failed, "")), (true, None));
    let whole = OperationDetail { repeats_as_a_whole: true, ..detail(Phase::Failed, "") };
    assert_eq!(said(whole), (false, Some(Next::Again)));
}

#[test]
fn a_machine_cant_reverse_the_text_of_the_reason() {
    let hosts = [("w1", HostResult::Failed, "safe \u{202e}gpj.exe"), ("w2", HostResult::Failed, "\u{2067}full")];
    let reason = reason(&detail(Phase::Failed, ""), &applied(&hosts), &[]).unwrap();
    assert_eq!((reason.quote.as_str(), reason.others[0].text.as_str()), ("safe <U+202E>gpj.exe", "<U+2067>full"));
    let errors = [(9, "ERROR! no module \u{202e}x".to_owned())];
    let reason = self::reason(&detail(Phase::Failed, "It ended."), &progress(vec![]), &errors).unwrap();
    assert_eq!(reason.quote, "ERROR! no module <U+202E>x");
}

#[test]
fn a_run_that_stopped_early_names_the_other_hosts() {
    let stats =
        |failed, reached: bool| HostStats { failed, ok: u32::from(reached), left: !reached, ..HostStats::default() };
    let begun = HostStats { left: true, ..stats(0, true) };
    let (none, left) = (stats(0, true), stats(0, false));
    let hosts = [("n1", none), ("n2", stats(1, true)), ("n3", begun), ("n4", left), ("n5", left)];
    let recap = EventBody::Stats { hosts: hosts.map(|(name, stats)| (name.to_owned(), stats)).into() };
    let failed = ends(1, "n2", HostResult::Failed, "disk full");
    let reported = progress(vec![task(1, "Upgrade"), ends(1, "n1", HostResult::Ok, ""), failed, recap]);
    let mut stopped = detail(Phase::Failed, "");
    stopped.row.reason = "TaskFailed".into();
    let reason = reason(&stopped, &reported, &[]).unwrap();
    assert_eq!(reason.text, "1 of 5 hosts failed. Not finished: n3. Not reached: n4 and n5.");
    assert!(reason.partial && reason.stopped_early);
}

#[test]
fn a_run_that_was_stopped_in_time_offers_the_rest() {
    let given_up = EventBody::GivenUp { left: vec!["n2".into(), "n3".into()], failed: Vec::new() };
    let reported = progress(vec![task(1, "Upgrade"), ends(1, "n1", HostResult::Ok, ""), given_up]);
    let reason = reason(&detail(Phase::Failed, "The run took longer than its deadline."), &reported, &[]).unwrap();
    assert!(reason.partial && reason.stopped_early);
}

#[test]
fn a_failed_run_with_a_limit_names_where_it_succeeded() {
    let stats = |failed| HostStats { ok: 9, failed, ..HostStats::default() };
    let hosts = [("w1", stats(0)), ("w2", stats(1)), ("w3", stats(0))].map(|(name, stats)| (name.to_owned(), stats));
    let failed = ends(2, "w2", HostResult::Failed, "disk full");
    let ok = |host| ends(2, host, HostResult::Ok, "");
    let step = |step, role| EventBody::StepStart { step, role, title: String::new() };
    let recap = |hosts: &[(String, HostStats)]| EventBody::Stats { hosts: hosts.iter().cloned().collect() };
    let facts = [("cp1".to_owned(), stats(0)), ("w1".to_owned(), stats(0))];
    let run = progress(vec![
        step(1, StepRole::Pre),
        task(1, "Facts"),
        ends(1, "cp1", HostResult::Ok, ""),
        recap(&facts),
        EventBody::StepEnd { step: 1, rc: 0 },
        step(2, StepRole::Main),
        task(2, "Join"),
        ends(2, "w1", HostResult::Ok, ""),
        failed,
        ok("w3"),
        recap(&hosts),
        EventBody::StepEnd { step: 2, rc: 2 },
    ]);
    let text = |limited_from| {
        let mut stopped = OperationDetail { limited_from, ..detail(Phase::Failed, "") };
        stopped.row.reason = "TaskFailed".into();
        reason(&stopped, &run, &[]).unwrap().text
    };
    assert_eq!(text(Some(9)), "1 of 4 hosts failed. Succeeded on w1 and w3.");
    assert_eq!(text(None), "1 of 4 hosts failed.");
}

#[test]
fn a_failed_run_opens_at_the_headline_or_a_few_lines_above() {
    let opens_at = |hosts: &[(&str, HostResult, &str)]| {
        let reported = applied(hosts);
        let reason = reason(&detail(Phase::Failed, "failed"), &reported, &[]).unwrap();
        first_line_on_screen(&reason, &reported)
    };
    let ok = ("w1", HostResult::Ok, "");
    let failed = ("w2", HostResult::Failed, "disk full");
    assert_eq!(opens_at(&[ok, failed]), Some(2));
    assert_eq!(opens_at(&[ok, ok, ok, ok, failed]), Some(6));
    assert_eq!(first_line_on_screen(&Reason::default(), &RunProgress::default()), None);
}

#[test]
fn hosts_that_failed_are_named_in_the_order_of_the_run() {
    let started = ["w1", "w2", "w3"].map(|host| EventBody::HostStart { task: 1, host: host.into() });
    let failed = ["w3", "w2", "w1"].map(|host| ends(1, host, HostResult::Failed, "disk full"));
    let reported = progress([task(1, "Apply")].into_iter().chain(started).chain(failed).collect());
    let reason = reason(&detail(Phase::Failed, ""), &reported, &[]).unwrap();
    assert_eq!(reason.title, "“Apply” failed on w1, w2 and w3");
}

#[test]
fn one_of_several_problems_is_called_so() {
    let cgroups = "The machine uses cgroups of version 1, which Kubernetes 1.35 and newer refuse.";
    let cause = |message: &str| {
        let reported = applied(&[("w1", HostResult::Failed, message)]);
        reason(&detail(Phase::Failed, ""), &reported, &[]).unwrap().cause
    };
    let sentence = sentence(cgroups).unwrap();
    assert_eq!(cause(&format!("w1: {cgroups}")), Some(sentence.clone()));
    let several = format!("w1: 2 problems: {cgroups} The clock is 90 s slow. No machine was changed.");
    assert_eq!(cause(&several), Some(format!("One of 2 problems: {sentence}")));
}

#[test]
fn without_events_the_report_gives_the_reason() {
    let mut failed = detail(Phase::Failed, "");
    let failure = Some(TaskFailure { host: "w2".into(), task: "Apply".into(), message: "disk full".into() });
    failed.end = Some(RunEnd { failure, ..RunEnd::default() });
    let text = reason(&failed, &RunProgress::default(), &[]).unwrap();
    assert_eq!((text.title.as_str(), text.lines), ("“Apply” failed on w2", None));
}

#[test]
fn a_run_that_never_started_says_why() {
    let mut failed = detail(Phase::Failed, "The run ended with exit code 2.");
    let message = "There is no playbook nope.yml; there are ping.yml and facts.yml.".into();
    failed.end = Some(RunEnd { message, ..RunEnd::default() });
    let text = reason(&failed, &RunProgress::default(), &[]).unwrap();
    assert_eq!(text.title, "The run ended with exit code 2.");
    assert_eq!(text.text, "There is no playbook nope.yml; there are ping.yml and facts.yml.");
    assert_eq!(reason(&detail(Phase::Succeeded, ""), &RunProgress::default(), &[]), None);
}

fn failed_tasks() -> OperationDetail {
    let mut failed =
        detail(Phase::Failed, "scale.yml: 3 failed, 0 unreachable of 4 hosts — w1: task “Apply”: disk full.");
    failed.row.reason = "TaskFailed".into();
    failed
}

#[test]
fn hosts_with_the_same_cause_are_one_row() {
    let reported = applied(&[
        ("w1", HostResult::Failed, "disk full"),
        ("w2", HostResult::Failed, "quota"),
        ("w3", HostResult::Failed, "disk full"),
        ("w4", HostResult::Ok, ""),
    ]);
    let reason = reason(&failed_tasks(), &reported, &[]).unwrap();
    assert_eq!(reason.title, "“Apply” failed on w1 and w3");
    assert_eq!((reason.quote.as_str(), reason.text.as_str()), ("disk full", "3 of 4 hosts failed."));
    let others: Vec<_> = reason.others.iter().map(|other| (other.title.as_str(), other.text.as_str())).collect();
    assert_eq!(others, [("“Apply” failed on w2", "quota")]);
}

#[test]
fn a_cause_groups_messages_that_name_addresses() {
    let refused = |host: &str, n: u32| {
        let message = format!("ssh: connect to host 10.0.0.{n} port 22: Connection refused");
        ends(1, host, HostResult::Unreachable, &message)
    };
    let reported = progress(vec![task(1, "Ping"), refused("a", 1), refused("b", 2), refused("c", 3), refused("d", 4)]);
    let reason = reason(&failed_tasks(), &reported, &[]).unwrap();
    assert_eq!(reason.title, "a, b and 2 others were unreachable during “Ping”");
    assert_eq!((reason.cause, reason.others.len()), (sentence("ssh: connect … port 22: Connection refused"), 0));
}

/// What ssh, ansible and the callback plugin print for each class of machines that can't be used, what the page says, and where it is
/// corrected.
#[rustfmt::skip]
const UNREACHABLE: [(&str, &str, Next); 7] = [
    (
        "Failed to connect to the host via ssh: root@10.0.0.5: Permission denied (publickey).",
        "The login was refused. Check the user and the private key.",
        Next::Edit(Document::HostKeys),
    ),
    (
        "The host key of this machine is not the confirmed one. It was reinstalled, or the connection may be intercepted.",
        "The host key differs from the confirmed one. If the machine was not reinstalled, the connection may be intercepted.",
        Next::Edit(Document::HostKeys),
    ),
    (
        "Failed to connect to the host via ssh: ssh: connect to host 10.0.0.5 port 22: Connection refused",
        "No SSH server listens at this address and port.",
        Next::Edit(Document::Inventory),
    ),
    (
        "Failed to connect to the host via ssh: ssh: connect to host 10.0.0.5 port 22: Connection timed out",
        "The machine doesn't answer. Check its address, and whether it is running.",
        Next::Edit(Document::Inventory),
    ),
    (
        "Failed to connect to the host via ssh: ssh: Could not resolve hostname cp1: Name or service not known",
        "The machine's name can't be resolved.",
        Next::Edit(Document::Inventory),
    ),
    (
        "The module interpreter '/usr/bin/python3' was not found.",
        "Python is missing on the machine. Install python3.",
        Next::Again,
    ),
    (
        "Missing sudo password",
        "sudo asks for a password on the machine. Set ansible_become_password, or allow the user sudo without a password.",
        Next::Edit(Document::Variables),
    ),
];

#[test]
fn each_class_of_unreachable_machines_has_its_sentence() {
    for (message, sentence, next) in UNREACHABLE {
        let reported = applied(&[("w1", HostResult::Unreachable, message)]);
        let reason = reason(&failed_tasks(), &reported, &[]).unwrap();
        assert_eq!(reason.title, "w1 was unreachable during “Apply”");
        assert_eq!(
            (reason.quote.as_str(), reason.cause.as_deref(), reason.next),
            (message, Some(sentence), Some(next))
        );
    }
}

#[test]
fn a_changed_host_key_comes_first() {
    let changed = "The host key of this machine is not the confirmed one. It was reinstalled, or the connection may be intercepted.";
    let reported = progress(vec![
        task(1, "Ping"),
        ends(1, "a", HostResult::Failed, "disk full"),
        ends(1, "b", HostResult::Unreachable, changed),
    ]);
    let mut failed = failed_tasks();
    let failure = Some(TaskFailure { host: "a".into(), task: "Ping".into(), message: "disk full".into() });
    failed.end = Some(RunEnd { failure, ..RunEnd::default() });
    let reason = reason(&failed, &reported, &[]).unwrap();
    assert_eq!(reason.title, "b was unreachable during “Ping”");
    assert_eq!(reason.others[0].text, "disk full");
}

#[test]
fn an_error_of_ansible_itself_gives_quote_cause_and_line() {
    let failed = detail(Phase::Failed, "site.yml ended with exit code 4.");
    let error = "ERROR! couldn't resolve module/action 'ansible.posix.mount'. This often indicates a misspelling.";
    let errors = [(7, "ERROR! something else".to_owned()), (9, error.to_owned())];
    let known = reason(&failed, &RunProgress::default(), &errors).unwrap();
    assert_eq!((known.title.as_str(), known.quote.as_str()), ("site.yml ended with exit code 4.", error));
    assert_eq!((known.cause, known.next), (sentence(error), Some(Next::Again)));
    assert_eq!(known.lines.unwrap().fragment(), "#L9");
    let unknown = reason(&failed, &RunProgress::default(), &errors[..1]).unwrap();
    assert_eq!((unknown.quote.as_str(), unknown.cause), ("ERROR! something else", None));
}

#[test]
fn an_error_that_the_status_quotes_is_shown_once() {
    let message =
        "site.yml, line 4: the role 'ntp' was not found (site.yml ended with exit code 1 before any task ran).";
    let failed = detail(Phase::Failed, message);
    let another = (5, "ERROR! couldn't resolve module/action 'x'.".to_owned());
    let errors = [another, (7, "ERROR! the role 'ntp' was not found in /conf/sources/0/roles".to_owned())];
    let known = reason(&failed, &RunProgress::default(), &errors).unwrap();
    assert_eq!((known.title.as_str(), known.quote.as_str()), (message, ""));
    assert_eq!((known.cause, known.lines.unwrap().fragment().as_str()), (sentence(message), "#L7"));
    for message in [
        "invalid literal 'abc' (site.yml ended with exit code 250 before any task ran). Not reached: n1.",
        "No matching task \"nothing\" found (site.yml ran no task). Not reached: n1.",
    ] {
        let errors = [(5, "ERROR! Unexpected Exception: invalid literal".to_owned())];
        let known = reason(&detail(Phase::Failed, message), &RunProgress::default(), &errors).unwrap();
        assert_eq!((known.title.as_str(), known.quote.as_str()), (message, ""));
    }
}

#[test]
fn an_error_of_a_task_is_not_the_end_of_ansible() {
    let line = |text: &str| LogLine { t: api::Time(0), s: text.into() };
    let newest = LogPage {
        first: 2,
        lines: vec![
            line("[ERROR]: Task failed: Module failed: no"),
            line("fatal: [m1]: FAILED! => {}"),
            line("...ignoring"),
            line("usage: ansible-playbook"),
            line("ansible-playbook: error: unrecognized"),
            line(" [ERROR]: x"),
        ],
        ..LogPage::default()
    };
    assert_eq!(super::errors(&newest).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [6, 7]);
}

#[test]
fn what_ansible_says_after_a_stop_is_not_the_reason() {
    let texts = ["ERROR! User interrupted execution", "[ERROR]: User interrupted execution"];
    let lines = texts.map(|text| LogLine { t: api::Time(0), s: text.into() }).into();
    let newest = LogPage { first: 2, lines, ..LogPage::default() };
    let deleted = detail(Phase::Failed, "The pod was deleted while task “Drain” was in flight on w1.");
    let reason = reason(&deleted, &RunProgress::default(), &super::errors(&newest)).unwrap();
    assert_eq!((reason.title, reason.quote, reason.lines), (deleted.row.message, String::new(), None));
}

#[test]
fn the_cause_decides_the_next_step() {
    let lost = applied(&[("w1", HostResult::Failed, "sudo: a password is required"), ("w2", HostResult::Ok, "")]);
    assert_eq!(reason(&failed_tasks(), &lost, &[]).unwrap().next, Some(Next::Edit(Document::Variables)));
    let mut refused = detail(Phase::Failed, "The inventory names no host.");
    refused.row.reason = "InventoryEmpty".into();
    let refused = reason(&refused, &RunProgress::default(), &[]).unwrap();
    assert_eq!((refused.cause, refused.next), (None, Some(Next::Edit(Document::Inventory))));
}
