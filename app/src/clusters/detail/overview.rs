//! The Overview tab: recent operations, conditions and facts.

use api::Time;
use api::cluster::{ClusterDetail, ConditionRow};
use api::operation::OperationRow;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::super::configuration::functions::load_configuration;
use super::super::current::CurrentCluster;
use super::super::fix::FixLink;
use super::super::key_fields::PublicKey;
use super::live_state::LivePanel;
use crate::json::data;
use crate::operations::FirstRun;
use crate::routes;
use crate::ui::{
    Ago, Alert, Empty, Fact, Facts, Icon, Loaded, Panel, Since, Status, Tone, icon, optional, phase_word, row_icon,
    row_tone,
};

#[component]
pub fn ClusterOverviewPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    view! {
        {optional(move || query.read().get("registered").map(|_| view! { <FirstSteps here/> }))}
        <Loaded resource=here.detail let:detail>
            <Overview detail/>
        </Loaded>
    }
}

#[component]
fn Overview(detail: ClusterDetail) -> impl IntoView {
    let now = detail.now;
    let name = detail.row.name.to_string();
    let note = (!detail.row.note.is_empty()).then(|| {
        let tone = super::super::health::tone(detail.row.health);
        let fix = detail.row.fix.map(|fix| view! { <FixLink cluster=name.clone() fix class="btn primary"/> });
        // The run whose message the note is.
        let run = detail.row.last.clone().filter(|last| last.message == detail.row.note);
        let run = run.map(|run| view! { <a class="btn" href=routes::operation(&run.name)>"Open the run"</a> });
        view! {
            <Alert tone title=detail.row.health_word.clone()>
                <p class="sentence">{detail.row.note.clone()}</p>
                <div class="bar">{fix} {run}</div>
            </Alert>
        }
    });
    let (cluster, here) = (name.clone(), name.clone());
    let all = routes::cluster_tab(&name, "operations");
    let end = (detail.operations > 0)
        .then(|| view! { <a class="link" href=all>{format!("All {}", detail.operations)}</a> }.into_any());
    view! {
        {note}
        <div class="two">
            <div class="stack">
                <Panel title="Recent operations" end=end>
                    <Recent rows=detail.recent name=name.clone() now/>
                </Panel>
                {(!detail.conditions.is_empty()).then(|| view! { <Conditions rows=detail.conditions cluster now/> })}
            </div>
            <div class="stack">
            <LivePanel cluster=here live=detail.live kubeconfig=detail.kubeconfig now/>
            <Panel title="Facts">
                <Facts>
                    {detail
                        .facts
                        .into_iter()
                        .map(|fact| view! { <Fact label=fact.label><span class:mono=fact.mono>{fact.value}</span></Fact> })
                        .collect_view()}
                    <Fact label="Registered"><Ago time=detail.row.created now/></Fact>
                    {(!detail.row.labels.is_empty())
                        .then(|| {
                            let tags = detail.row.labels.into_iter().map(|label| view! { <span class="tag">{label}</span> });
                            view! { <Fact label="Labels">{tags.collect_view()}</Fact> }
                        })}
                </Facts>
            </Panel>
            </div>
        </div>
    }
}

#[component]
fn Recent(rows: Vec<OperationRow>, name: String, now: Time) -> impl IntoView {
    if rows.is_empty() {
        return view! {
            <Empty title="Nothing has run yet" text="ping.yml connects to every machine and changes nothing. It is a good first run.">
                <FirstRun cluster=name id="first-run" class="btn"/>
            </Empty>
        }
        .into_any();
    }
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Recent operations">
            <table class="rows">
                <thead class="sr">
                    <tr>
                        <th scope="col">"Status"</th> <th scope="col">"Operation"</th> <th scope="col">"By"</th>
                        <th scope="col">"Duration"</th>
                    </tr>
                </thead>
                <tbody>
                    {rows
                        .into_iter()
                        .map(|row| {
                            let when = row.ended.or(row.started).unwrap_or(row.submitted);
                            let by = if row.by.is_empty() { String::new() } else { format!("{} · ", row.by) };
                            view! {
                                <tr>
                                    <td>
                                        <Status tone=row_tone(&row) icon=row_icon(&row) word=phase_word(&row)/>
                                    </td>
                                    <th scope="row">
                                        <a class="name" href=routes::operation(&row.name) title=row.action.clone()>{row.title().to_owned()}</a>
                                    </th>
                                    <td class="muted">{by} <Ago time=when now/></td>
                                    <td class="num muted">
                                        {row.started.map(|start| view! { <Since start end=row.ended now/> })}
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn Conditions(rows: Vec<ConditionRow>, cluster: String, now: Time) -> impl IntoView {
    view! {
        <Panel title="Conditions">
            <ul class="conditions">
                {rows
                    .into_iter()
                    .map(|row| {
                        let tone = if row.ok { Tone::Ok } else { Tone::Warn };
                        view! {
                            <li>
                                <Status tone word=row.name/>
                                <span class="muted grow">
                                    {row.message} " "
                                    {row.fix.map(|fix| view! { <FixLink cluster=cluster.clone() fix/> })}
                                </span>
                                {row.since.map(|since| view! { <span class="faint"><Ago time=since now/></span> })}
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </Panel>
    }
}

/// Shown right after registering: the public key to add to the machines, and a button for the first run.
///
/// The key is read from the cluster, never from the URL, because a crafted link could otherwise show an attacker's key.
#[component]
fn FirstSteps(here: CurrentCluster) -> impl IntoView {
    let configuration = data(move || here.name.get(), load_configuration);
    view! {
        <Loaded resource=configuration rows=2 let:configuration>
            {
                let name = here.name.get_untracked();
                view! {
                    <section class="alert ok" aria-label="First steps">
                        <p class="alert-title">{icon(Icon::Check)} <span>{format!("{name} is registered")}</span></p>
                        <div class="alert-body">
                            {configuration
                                .ssh
                                .public_key
                                .map(|key| {
                                    view! {
                                        <p>
                                            "Add this public key to " <code>"~/.ssh/authorized_keys"</code>
                                            " of the SSH user on every machine. The private key stays here and is never shown."
                                        </p>
                                        <PublicKey key/>
                                    }
                                })}
                            {configuration
                                .ssh
                                .host_keys
                                .filter(|record| record.count == 0)
                                .map(|_| {
                                    let ssh = routes::with_query(&routes::cluster_tab(&name, "configuration"), &[("show", "ssh")]);
                                    view! {
                                        <p>
                                            <a class="link" href=ssh>"Scan and confirm the machines' host keys"</a>
                                            ", so that every run verifies the machines it connects to."
                                        </p>
                                    }
                                })} <p>"Then run ping.yml. It connects to every machine once and changes nothing."</p>
                            <div class="bar">
                                <FirstRun cluster=name.clone() id="first-steps"/>
                            </div>
                        </div>
                    </section>
                }
            }
        </Loaded>
    }
}
