//! What was read from the cluster itself: the panel of the overview, and the line above the nodes.

use api::Time;
use api::cluster::{Expiry, KubeconfigAccess, LiveCheck, LiveCluster, LiveState};
use leptos::prelude::*;

use crate::routes;
use crate::ui::{Ago, Alert, Copy, Fact, Facts, Panel, Since, Status, Tone};

const DAY: i64 = 86_400_000;
/// From this many days on, the expiry of a certificate is a warning.
const SOON: i64 = 30;

/// Whether the values are those of the newest attempt.
pub(super) fn is_current(live: &LiveCluster) -> bool {
    matches!(live.state, LiveState::Healthy | LiveState::Unhealthy)
}

fn state(state: LiveState) -> (Tone, &'static str) {
    match state {
        LiveState::NotRead => (Tone::Idle, "Not read yet"),
        LiveState::NoKubeconfig => (Tone::Idle, "No kubeconfig"),
        LiveState::Refused => (Tone::Warn, "Kubeconfig not used"),
        LiveState::Unreachable => (Tone::Err, "Unreachable"),
        LiveState::Unhealthy => (Tone::Warn, "Unhealthy"),
        LiveState::Healthy => (Tone::Ok, "Healthy"),
    }
}

#[component]
pub(in crate::clusters) fn LivePanel(
    cluster: String,
    live: LiveCluster,
    kubeconfig: Option<KubeconfigAccess>,
    now: Time,
) -> impl IntoView {
    let (tone, word) = state(live.state);
    let since = live.since.filter(|_| !matches!(live.state, LiveState::NotRead | LiveState::NoKubeconfig));
    let commands = live.kubeconfig_commands.clone();
    let advice = (live.state == LiveState::NoKubeconfig).then_some(if commands.is_empty() {
        "Version, health and nodes are shown when there is one: cluster.yml delivers it at its end, or spec.kubeConfRef names it."
    } else {
        "Version, health and nodes are shown when there is one. kubespray leaves it on the first control plane."
    });
    let end = live.read.map(|time| view! { <span class="muted">"read " <Ago time now/></span> }.into_any());
    let is_current = is_current(&live);
    let values = live.read.map(|_| {
        let nodes = format!("{} of {} ready", live.ready, live.nodes);
        let checks = live.checks.into_iter().map(|check| view! { <Check check is_current/> }).collect_view();
        let certificates =
            live.certificates.into_iter().map(|expiry| view! { <Certificate expiry now/> }).collect_view();
        view! {
            <Fact label="Version"><span class="mono">{live.version}</span></Fact>
            <Fact label="Nodes">{nodes}</Fact>
            {checks}
            {certificates}
        }
    });
    view! {
        <Panel title="Cluster" end=end>
            <Facts>
                <Fact label="State">
                    <Status tone word/> {since.map(|time| view! { <span class="muted">" for " <Since start=time now/></span> })}
                </Fact>
                {advice.map(|advice| view! { <Fact label="">{advice}</Fact> })}
                {values}
                {kubeconfig.map(|access| view! { <Fact label="Kubeconfig"><Kubeconfig cluster access now/></Fact> })}
            </Facts>
            {(!commands.is_empty()).then(|| view! { <StoreKubeconfig commands/> })}
        </Panel>
    }
}

/// The commands for a cluster of kubespray.
#[component]
fn StoreKubeconfig(commands: String) -> impl IntoView {
    view! {
        <div class="pad stack">
            <p>
                "When the cluster exists, these commands store its kubeconfig for the console. kubectl must use the API that holds this Cluster."
            </p>
            <pre class="command" tabindex="0"><code>{commands.clone()}</code></pre>
            <div class="bar"><Copy text=commands label="Copy commands"/></div>
        </div>
    }
}

/// A form that posts, because each download is recorded.
#[component]
fn Kubeconfig(cluster: String, access: KubeconfigAccess, now: Time) -> impl IntoView {
    let button = access.may_download.then(|| {
        view! {
            <form method="post" action=routes::kubeconfig(&cluster)>
                <button class="btn">"Download" <span class="sr">" kubeconfig"</span></button>
            </form>
        }
    });
    let downloads = access.downloads.into_iter().take(3).map(|download| {
        view! { <div class="muted">"Downloaded by " {download.by} " " <Ago time=download.at now/></div> }
    });
    let refused = (!access.may_download).then_some("You may not read its Secret.");
    view! { {button} {refused} {downloads.collect_view()} }
}

#[component]
fn Check(check: LiveCheck, is_current: bool) -> impl IntoView {
    let (tone, word) = match (is_current, check.ok) {
        (true, true) => (Tone::Ok, check.message),
        (true, false) => (Tone::Err, check.message),
        // The panel's heading says when it was read.
        (false, _) => (Tone::Idle, check.message),
    };
    view! { <Fact label=check.name><Status tone word/></Fact> }
}

#[component]
fn Certificate(expiry: Expiry, now: Time) -> impl IntoView {
    let (tone, word) = expires(expiry.at, now);
    view! {
        <Fact label=expiry.name>
            <span title=expiry.at.utc()><Status tone word/></span>
        </Fact>
    }
}

fn expires(at: Time, now: Time) -> (Tone, String) {
    let days = (at.0 - now.0).div_euclid(DAY);
    match days {
        ..0 => (Tone::Err, "Expired".into()),
        0 => (Tone::Err, "Expires within a day".into()),
        1..SOON => (Tone::Warn, format!("Expires in {days} d")),
        _ => (Tone::Ok, format!("Expires in {days} d")),
    }
}

/// How the nodes were read, above their table.
#[component]
pub(super) fn LiveNote(live: LiveCluster, now: Time) -> impl IntoView {
    let read = live.read.map(|time| view! { "Nodes read from the cluster " <Ago time now/> "." });
    match live.state {
        LiveState::Healthy | LiveState::Unhealthy => view! { <p class="muted">{read}</p> }.into_any(),
        LiveState::NotRead => view! { <p class="muted">"The cluster itself has not been read yet."</p> }.into_any(),
        LiveState::NoKubeconfig => {
            view! { <p class="muted">"These are the hosts of the inventory. The cluster has no kubeconfig, so its nodes are not known."</p> }
                .into_any()
        }
        LiveState::Refused | LiveState::Unreachable => {
            let (tone, word) = state(live.state);
            view! {
                <Alert tone title=word>
                    <p>{live.problem} " " {read}</p>
                </Alert>
            }
            .into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_expires_soon_is_a_warning() {
        let in_days = |days: i64| expires(Time(days * DAY), Time(0));
        assert_eq!(in_days(-1), (Tone::Err, "Expired".into()));
        assert_eq!(in_days(0).0, Tone::Err);
        assert_eq!(in_days(29), (Tone::Warn, "Expires in 29 d".into()));
        assert_eq!(in_days(30), (Tone::Ok, "Expires in 30 d".into()));
    }
}
