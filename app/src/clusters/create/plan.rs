//! Step 3: what each machine becomes, the settings, and what is installed.

use api::cluster::{CreationPlan, PlannedMachine, PlannedSetting};
use api::configuration::Document;
use leptos::prelude::*;

use super::super::fix::{FixLink, editor};
use crate::ui::{Alert, Fact, Facts, Panel, Status, Tone};
use crate::words::count;

#[component]
pub(super) fn Plan(cluster: String, plan: CreationPlan) -> impl IntoView {
    let problems = plan.problems.len() as u64;
    let (tone, word) = match problems {
        0 => (Tone::Ok, "Complete".to_owned()),
        _ => (Tone::Err, count(problems, "problem", "problems")),
    };
    let wrong = plan.problems.into_iter().map(|problem| {
        let link = problem.fix.map(|fix| view! { <FixLink cluster=cluster.clone() fix/> });
        view! { <Alert tone=Tone::Err title=problem.message>{link}</Alert> }
    });
    let wrong = (problems > 0).then(|| view! { <div class="pad stack">{wrong.collect_view()}</div> });
    let has_settings = !plan.settings.is_empty();
    let (variables, inventory) = (editor(&cluster, Document::Variables), editor(&cluster, Document::Inventory));
    view! {
        <Panel title="3 · Plan" end=Some(view! { <Status tone word/> }.into_any())>
            {wrong}
            {has_settings.then(|| view! {
                <Facts>{plan.settings.into_iter().map(|setting| view! { <Setting setting/> }).collect_view()}</Facts>
                <p class="pad muted">
                    "Only the version can change later. " <a class="link" href=variables>"Change the variables"</a> " · "
                    <a class="link" href=inventory>"Change the machines"</a>
                </p>
            })}
            {(!plan.machines.is_empty()).then(|| view! { <Machines machines=plan.machines/> })}
            {(!plan.changes.is_empty()).then(|| view! {
                <div class="pad stack">
                    <h3>"On each machine"</h3>
                    <ul class="list">{plan.changes.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
                </div>
            })}
        </Panel>
    }
}

#[component]
fn Setting(setting: PlannedSetting) -> impl IntoView {
    let note = setting.is_default.then(|| view! { <span class="muted">" default"</span> });
    view! { <Fact label=setting.label><span class="mono">{setting.value}</span> {note}</Fact> }
}

#[component]
fn Machines(machines: Vec<PlannedMachine>) -> impl IntoView {
    let row = |machine: PlannedMachine| {
        view! {
            <tr>
                <th scope="row"><span class="name">{machine.name}</span></th>
                <td>{machine.becomes}</td>
                <td class="mono">{machine.reached_by}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Machines of the plan">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Machine"</th> <th scope="col">"Becomes"</th> <th scope="col">"Connection"</th>
                    </tr>
                </thead>
                <tbody>{machines.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}
