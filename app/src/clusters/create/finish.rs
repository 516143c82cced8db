//! Step 4: the operation that creates the cluster: its button, its progress, and its failures.

use api::Time;
use api::cluster::{CheckResult, ConfirmedKeys, CreationPlan, CreationStage, HostFailure, MachineCheck};
use api::operation::{OperationReview, OperationRow, Phase};
use leptos::prelude::*;

use super::functions::CreateCluster;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::operations::{Commands, notes, reviewed};
use crate::routes;
use crate::ui::{Ago, Alert, Icon, Panel, Since, Status, Tone};
use crate::words::named;

#[component]
pub(super) fn Finish(
    cluster: String,
    stage: CreationStage,
    host_keys: Option<ConfirmedKeys>,
    check: Option<MachineCheck>,
    plan: CreationPlan,
    run: Option<OperationRow>,
    failures: Vec<HostFailure>,
    now: Time,
) -> impl IntoView {
    let (tone, word) = match stage {
        CreationStage::Working => (Tone::Run, "Creating"),
        CreationStage::Failed => (Tone::Err, "Not finished"),
        _ => (Tone::Idle, "Not created"),
    };
    let earlier = run.map(|run| match run.phase.is_final() {
        true => view! { <Failed run failures now/> }.into_any(),
        false => view! { <Working run now/> }.into_any(),
    });
    let next = match plan.operation {
        _ if stage == CreationStage::Working => ().into_any(),
        Some(operation) if plan.problems.is_empty() => {
            let warnings = warnings(check.as_ref(), host_keys.as_ref());
            view! { <Next cluster operation warnings again={stage == CreationStage::Failed}/> }.into_any()
        }
        _ => view! { <p>"The cluster can't be created yet. Correct the plan first."</p> }.into_any(),
    };
    view! {
        <Panel title="4 · Create" end=Some(view! { <Status tone word/> }.into_any())>
            <div class="pad stack">{earlier} {next}</div>
        </Panel>
    }
}

#[component]
fn Working(run: OperationRow, now: Time) -> impl IntoView {
    let title = match run.phase {
        Phase::Queued if run.message.is_empty() => "The operation is queued.".to_owned(),
        Phase::Queued => run.message.clone(),
        _ => "The cluster is being created. This takes some minutes.".to_owned(),
    };
    view! {
        <Alert tone=Tone::Run title>
            {run.started.map(|start| view! { <p class="muted">"Running for " <Since start now/></p> })}
            <div class="bar"><a class="btn primary" href=routes::operation(&run.name)>"Watch the run"</a></div>
            <noscript>"Reload the page to see the result."</noscript>
        </Alert>
    }
}

/// The hosts on which it failed, each with task and cause.
#[component]
fn Failed(run: OperationRow, failures: Vec<HostFailure>, now: Time) -> impl IntoView {
    let names: Vec<&str> = failures.iter().map(|failure| failure.host.as_str()).collect();
    let title = match (run.phase, names.is_empty()) {
        (Phase::Cancelled, _) => "Creating the cluster was cancelled.".to_owned(),
        (_, true) => "Creating the cluster failed.".to_owned(),
        (_, false) => format!("Creating the cluster failed on {}.", named(&names)),
    };
    let reason = (names.is_empty() && !run.message.is_empty()).then(|| view! { <p>{run.message.clone()}</p> });
    let list = failures.into_iter().map(|failure| {
        let at = if failure.unreachable { "unreachable" } else { "failed" };
        let cause = (!failure.cause.is_empty()).then(|| view! { <p>{failure.cause}</p> });
        view! {
            <li>
                <b>{failure.host}</b> " " {at} ", task “" {failure.task} "”" {cause}
                <pre class="command" tabindex="0"><code>{failure.message}</code></pre>
            </li>
        }
    });
    view! {
        <Alert tone=Tone::Err title>
            {reason}
            <ul class="plain stack">{list.collect_view()}</ul>
            <p class="muted">
                <a class="link" href=routes::operation(&run.name)>{run.name.to_string()}</a>
                {run.ended.map(|time| view! { " ended " <Ago time now/> })}
            </p>
        </Alert>
    }
}

/// The operation with its button.
#[component]
fn Next(
    cluster: String,
    operation: OperationReview,
    warnings: Vec<String>,
    /// An earlier run did not finish.
    again: bool,
) -> impl IntoView {
    let (label, what) = if again {
        (
            "Continue",
            "Continuing runs the same playbook again: what is done already stays, and what is missing is added.",
        )
    } else {
        (
            "Create the cluster",
            "The machines serve this cluster from then on. Nothing else should run on them: other containers and Kubernetes installations get in its way.",
        )
    };
    view! {
        {notes(warnings.into_iter().chain(operation.warnings), operation.waits_for)}
        <p>{what}</p>
        <Commands commands=operation.commands usual=operation.usual/>
        <Form id="create-cluster" functions=vec![endpoint::<CreateCluster>()]>
            <input type="hidden" name="cluster" value=cluster/>
            {reviewed(&operation.name, operation.expected_inputs)}
            <FormEnd><Submit label icon=Icon::Play/></FormEnd>
        </Form>
    }
}

/// Warnings about the earlier steps. The user can create the cluster in spite of them.
fn warnings(check: Option<&MachineCheck>, keys: Option<&ConfirmedKeys>) -> Vec<String> {
    let keys = keys.filter(|keys| !keys.missing.is_empty()).map(|keys| {
        if keys.missing.len() as u64 == u64::from(keys.machines) {
            "No host key is confirmed. The run trusts the first key that each machine shows.".to_owned()
        } else {
            "Some host keys are not confirmed. The run can't connect to these machines.".to_owned()
        }
    });
    check.and_then(not_passed).into_iter().chain(keys).collect()
}

/// Why the newest check says too little; `None` if all machines have passed it.
fn not_passed(check: &MachineCheck) -> Option<String> {
    const ITSELF: &str =
        "The operation checks them first, and stops before it changes anything if one can't become a node.";
    let bad = |host: &&api::cluster::CheckedHost| matches!(host.result, CheckResult::Failed | CheckResult::Unreachable);
    let bad: Vec<&str> = check.hosts.iter().filter(bad).map(|host| host.name.as_str()).collect();
    match &check.run {
        None => Some(format!("The machines have not been checked. {ITSELF}")),
        Some(run) if !run.phase.is_final() => Some("The machines are being checked. Wait for the result.".to_owned()),
        Some(_) if check.outdated => Some(format!("The check of the machines is out of date. {ITSELF}")),
        Some(_) if !bad.is_empty() => Some(format!("The last check found problems on {}. {ITSELF}", named(&bad))),
        Some(run) if run.phase != Phase::Succeeded => Some(format!("The last check of the machines failed. {ITSELF}")),
        Some(_) => None,
    }
}
