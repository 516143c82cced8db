//! Step 2: the check of the machines, with its result on each host.

use api::Time;
use api::cluster::{CheckResult, CheckedHost, MachineCheck};
use api::operation::Phase;
use leptos::prelude::*;

use super::functions::CheckMachines;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::operations::FirstRun;
use crate::routes;
use crate::ui::{Ago, Alert, Icon, Panel, Since, Status, Tone, phase_word, row_icon, row_tone};
use crate::words::count;

#[component]
pub(super) fn Check(
    cluster: String,
    check: MachineCheck,
    /// Whether inventory and variables can be used.
    usable: bool,
    /// The cluster is being created.
    working: bool,
    now: Time,
) -> impl IntoView {
    let (tone, word) = standing(&check);
    let is_open = check.run.as_ref().is_some_and(|run| !run.phase.is_final());
    let run = check.run.clone().map(|run| {
        let link = routes::operation(&run.name);
        let when = match run.started {
            _ if run.phase.is_final() => view! { <Ago time=run.ended.unwrap_or(run.submitted) now/> }.into_any(),
            Some(start) => view! { "for " <Since start now/> }.into_any(),
            None => ().into_any(),
        };
        view! {
            <p class="muted">
                <a class="link" href=link>{run.name.to_string()}</a> " "
                <Status tone=row_tone(&run) icon=row_icon(&run) word=phase_word(&run)/> " " {when}
                {is_open.then(|| view! { <noscript>" Reload the page to see the result."</noscript> })}
            </p>
        }
    });
    let outdated = (check.outdated && !is_open).then(|| {
        view! { <Alert tone=Tone::Warn title="The inventory or the variables have changed since. Check the machines again."/> }
    });
    let button = if check.run.is_some() { "Check again" } else { "Check the machines" };
    let class = if tone == Tone::Ok || working { "btn" } else { "btn primary" };
    let no_hosts = check.hosts.is_empty();
    let refused = check
        .run
        .as_ref()
        .filter(|run| run.phase.is_final() && run.phase != Phase::Succeeded && no_hosts && !run.message.is_empty())
        .map(|run| view! { <Alert tone=Tone::Err title=run.message.clone()/> });
    view! {
        <Panel title="2 · Machines" end=Some(view! { <Status tone word/> }.into_any())>
            <div class="pad stack">
                <p>
                    "The check logs in to every machine and looks at system, memory, disk, clock, ports, and the connections between the machines. It changes nothing."
                </p>
                {(!usable).then(|| view! { <p class="muted">"Correct the plan first."</p> })}
                {run} {outdated} {refused}
                {(!check.problem.is_empty()).then(|| view! { <p class="muted">{check.problem}</p> })}
                <Form id="check-machines" functions=vec![endpoint::<CheckMachines>()]>
                    <input type="hidden" name="cluster" value=cluster/>
                    <FormEnd>
                        {(!is_open && !working && usable).then(|| view! { <Submit label=button class icon=Icon::Play/> })}
                    </FormEnd>
                </Form>
            </div>
            {(!no_hosts).then(|| view! { <Results hosts=check.hosts/> })}
        </Panel>
    }
}

/// The step with playbooks of kubespray.
#[component]
pub(super) fn NoCheck(
    cluster: String,
    /// Whether inventory and variables can be used.
    usable: bool,
    /// The cluster is being created.
    working: bool,
) -> impl IntoView {
    let next = match (usable, working) {
        (false, _) => view! { <p class="muted">"Correct the plan first."</p> }.into_any(),
        (true, true) => ().into_any(),
        (true, false) => view! { <FirstRun cluster id="reach-machines" class="btn"/> }.into_any(),
    };
    view! {
        <Panel title="2 · Machines" end=Some(view! { <Status tone=Tone::Idle word="No check"/> }.into_any())>
            <div class="pad stack">
                <p>
                    "kubespray has no playbook that only checks the machines. ping.yml connects to every machine and changes nothing."
                </p>
                {next}
            </div>
        </Panel>
    }
}

/// The state of the step in the panel's heading.
fn standing(check: &MachineCheck) -> (Tone, String) {
    let Some(run) = &check.run else { return (Tone::Idle, "Not checked".into()) };
    if !run.phase.is_final() {
        return (Tone::Run, "Checking".into());
    }
    if check.outdated {
        return (Tone::Warn, "Check is out of date".into());
    }
    let of = |result| check.hosts.iter().filter(|host| host.result == result).count() as u64;
    let bad = of(CheckResult::Failed) + of(CheckResult::Unreachable);
    match (run.phase, bad) {
        (_, 1..) => (Tone::Err, count(bad, "machine has a problem", "machines have problems")),
        (Phase::Succeeded, _) => (Tone::Ok, count(of(CheckResult::Passed), "machine passed", "machines passed")),
        _ => (Tone::Err, "The check failed".into()),
    }
}

#[component]
fn Results(hosts: Vec<CheckedHost>) -> impl IntoView {
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Results of the check">
            <table class="rows messages">
                <thead>
                    <tr>
                        <th scope="col">"Machine"</th> <th scope="col">"Result"</th> <th scope="col">"Message"</th>
                    </tr>
                </thead>
                <tbody>{hosts.into_iter().map(|host| view! { <Row host/> }).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(host: CheckedHost) -> impl IntoView {
    let (tone, word) = match host.result {
        CheckResult::Passed => (Tone::Ok, "Passed"),
        CheckResult::Failed => (Tone::Err, "Problem"),
        CheckResult::Unreachable => (Tone::Err, "Unreachable"),
        CheckResult::NotChecked => (Tone::Idle, "Not checked"),
    };
    let cause = (!host.cause.is_empty()).then(|| view! { <p>{host.cause}</p> });
    view! {
        <tr>
            <th scope="row"><span class="name">{host.name}</span></th>
            <td><Status tone word/></td>
            <td class="message">{cause} {host.message}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use api::operation::OperationRow;

    use super::*;

    #[test]
    fn a_problem_on_one_machine_is_the_state_of_the_step() {
        let run = |phase| OperationRow {
            name: "precheck-1".parse().unwrap(),
            cluster: "prod".into(),
            action: String::new(),
            script: false,
            check: false,
            phase,
            cancelling: false,
            reason: String::new(),
            message: String::new(),
            by: String::new(),
            submitted: Time(0),
            started: None,
            ended: None,
        };
        let host = |result| CheckedHost { name: "a".into(), result, message: String::new(), cause: String::new() };
        let of = |phase, results: &[CheckResult], outdated| {
            let hosts = results.iter().copied().map(host).collect();
            standing(&MachineCheck { run: Some(run(phase)), hosts, outdated, ..MachineCheck::default() })
        };
        use CheckResult::{Failed, NotChecked, Passed, Unreachable};
        assert_eq!(standing(&MachineCheck::default()).1, "Not checked");
        assert_eq!(of(Phase::Running, &[], false).0, Tone::Run);
        assert_eq!(of(Phase::Succeeded, &[Passed, Passed], false), (Tone::Ok, "2 machines passed".into()));
        assert_eq!(of(Phase::Failed, &[Failed, Unreachable, NotChecked], false).1, "2 machines have problems");
        assert_eq!(of(Phase::Failed, &[], false), (Tone::Err, "The check failed".into()));
        assert_eq!(of(Phase::Succeeded, &[Passed], true).0, Tone::Warn);
    }
}
