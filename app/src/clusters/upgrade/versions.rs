//! The running version, the versions that can be chosen, and why the others can't.

use api::cluster::{LiveState, Upgrade, VersionChoice, VersionSource};
use leptos::prelude::*;

use crate::routes;
use crate::ui::{Ago, Panel, Status, Tone};

#[component]
pub(super) fn Versions(
    cluster: String,
    /// The running version as the user typed it.
    from: String,
    upgrade: Upgrade,
) -> impl IntoView {
    let path = routes::cluster_tab(&cluster, "upgrade");
    let is_known = upgrade.source != VersionSource::Unknown;
    let steps = (!upgrade.path.is_empty()).then(|| {
        let all: Vec<_> = upgrade.path.iter().map(ToString::to_string).collect();
        let (operations, way) = (all.len(), all.join(" → "));
        view! { <p>{format!("To the newest version in {operations} operations: {} → {way}", upgrade.running)}</p> }
    });
    let up_to_date = is_known && upgrade.versions.is_empty() && !upgrade.none_newer.is_empty();
    let table = (!upgrade.versions.is_empty()).then(|| {
        let rows = upgrade.versions.clone().into_iter().map(|choice| {
            let to = choice.offered.version.to_string();
            let link = routes::with_query(&path, &[("to", &to), ("from", &from)]);
            view! { <Choice choice link/> }
        });
        view! {
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Version"</th> <th scope="col">"Choice"</th> <th scope="col">"Tests"</th>
                        <th scope="col">"Supported until"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        }
    });
    view! {
        <Panel title="Version" class="scroll">
            <div class="pad stack">
                <Running upgrade=upgrade.clone()/>
                {up_to_date.then(|| view! { <p>{upgrade.none_newer.clone()}</p> })}
                {steps}
            </div>
            {table}
            <form method="get" action=path class="pad bar">
                {if is_known && from.is_empty() {
                    ().into_any()
                } else {
                    view! { <Typed name="from" label="Running version" value=from/> }.into_any()
                }}
                {is_known.then(|| view! { <Typed name="to" label="Another version" value=""/> })}
                <button class="btn">"Show"</button>
                <span class="field-error" role="alert">{upgrade.refused}</span>
            </form>
        </Panel>
    }
}

#[component]
fn Typed(name: &'static str, label: &'static str, #[prop(into)] value: String) -> impl IntoView {
    view! {
        <label class="bar">
            {label} <input class="mono" name=name value=value placeholder="1.36.4" size="9" autocomplete="off"/>
        </label>
    }
}

/// What runs, and how that is known.
#[component]
fn Running(upgrade: Upgrade) -> impl IntoView {
    let now = upgrade.now;
    let why = match upgrade.live {
        LiveState::NoKubeconfig => "the cluster has no kubeconfig",
        LiveState::NotRead => "the cluster itself is being read",
        _ => "the cluster itself can't be read",
    };
    let how = match upgrade.source {
        VersionSource::Cluster => {
            view! { "read from the cluster " {upgrade.read.map(|time| view! { <Ago time now/> })} "." }.into_any()
        }
        VersionSource::Variables => format!("from kube_version in the variables: {why}.").into_any(),
        VersionSource::Typed => format!("as you typed: {why}.").into_any(),
        VersionSource::Unknown => {
            return view! { <p>{format!("The running version is unknown: {why}, and the variables don't tell it. Type it to see the versions that can follow.")}</p> }
                .into_any();
        }
    };
    view! { <p>"Running: " <strong class="mono">{upgrade.running}</strong> ", " {how}</p> }.into_any()
}

#[component]
fn Choice(choice: VersionChoice, link: String) -> impl IntoView {
    let offered = choice.offered;
    let version = offered.version.to_string();
    let state = match choice.refused {
        Some(why) => view! { <td class="wrap muted">{why}</td> }.into_any(),
        None if choice.chosen => view! { <td><Status tone=Tone::Ok word="Chosen"/></td> }.into_any(),
        None => {
            let label = format!("Choose {version}");
            view! { <td><a class="link" href=link aria-label=label>"Choose"</a></td> }.into_any()
        }
    };
    let (tests, newest) =
        (if offered.proven { "tested" } else { "not tested" }, offered.newest_patch.then_some(", newest known patch"));
    view! {
        <tr>
            <th scope="row" class="mono">{version}</th>
            {state}
            <td>{tests} {newest}</td>
            <td class="num">{offered.end_of_support}</td>
        </tr>
    }
}
