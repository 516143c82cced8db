//! After the creation: the cluster's own state, its kubeconfig, and what to do next.

use api::Time;
use api::cluster::{KubeconfigAccess, LiveCluster, LiveState};
use api::operation::OperationRow;
use leptos::prelude::*;

use super::super::detail::LivePanel;
use crate::routes;
use crate::ui::{Alert, Tone};

#[component]
pub(super) fn Outcome(
    cluster: String,
    live: LiveCluster,
    kubeconfig: Option<KubeconfigAccess>,
    run: Option<OperationRow>,
    now: Time,
) -> impl IntoView {
    let (tone, title) = match live.state {
        LiveState::Healthy => (Tone::Ok, format!("{cluster} runs Kubernetes {} and is healthy.", live.version)),
        LiveState::Unhealthy => {
            (Tone::Warn, format!("{cluster} runs Kubernetes {}, but is not healthy yet.", live.version))
        }
        LiveState::Unreachable | LiveState::Refused => {
            (Tone::Warn, format!("{cluster} has a kubeconfig, but its Kubernetes API can't be read."))
        }
        LiveState::NoKubeconfig if !live.kubeconfig_commands.is_empty() => {
            (Tone::Ok, format!("{cluster} was created. Its state is shown as soon as its kubeconfig is stored."))
        }
        LiveState::NotRead | LiveState::NoKubeconfig => (
            Tone::Ok,
            format!("{cluster} was created. Its state is shown as soon as its Kubernetes API has been read."),
        ),
    };
    let problem = (!live.problem.is_empty()).then(|| view! { <p>{live.problem.clone()}</p> });
    let run = run.map(|run| view! { <a class="btn" href=routes::operation(&run.name)>"Open the run"</a> });
    let (add, overview) = (routes::cluster_tab(&cluster, "nodes/add"), routes::cluster(&cluster));
    view! {
        <Alert tone title>
            {problem}
            <div class="bar">
                <a class="btn primary" href=overview>"Open the cluster"</a>
                <a class="btn" href=add>"Add nodes"</a>
                {run}
            </div>
        </Alert>
        <LivePanel cluster live kubeconfig now/>
    }
}
