//! The nodes, in the order in which they are upgraded.

use api::Time;
use api::cluster::{NodeState, UpgradeNode};
use leptos::prelude::*;

use crate::ui::{Ago, Icon, Panel, Status, Tone};

fn look(state: NodeState) -> (Tone, Icon) {
    match state {
        NodeState::Waiting => (Tone::Idle, Icon::Clock),
        NodeState::Upgrading => (Tone::Run, Icon::Running),
        NodeState::Done => (Tone::Ok, Icon::Check),
        NodeState::Failed => (Tone::Err, Icon::Cross),
        NodeState::Stopped => (Tone::Warn, Icon::Stop),
    }
}

#[component]
pub(super) fn Nodes(
    nodes: Vec<UpgradeNode>,
    /// When the versions were read.
    read: Option<Time>,
    now: Time,
) -> impl IntoView {
    let end = read.map(|time| view! { <span class="muted">"read " <Ago time now/></span> }.into_any());
    let rows = nodes.into_iter().map(|node| {
        let (tone, icon) = look(node.state);
        let version = if node.version.is_empty() { "unknown".to_owned() } else { node.version };
        view! {
            <tr>
                <th scope="row">{node.name}</th>
                <td><Status tone icon word=node.word/></td>
                <td class="mono">{version}</td>
                <td>{node.roles.join(", ")}</td>
                <td class="wrap muted">{node.detail}</td>
            </tr>
        }
    });
    view! {
        <Panel title="Nodes in their order" end class="scroll">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Node"</th> <th scope="col">"State"</th>
                        <th scope="col">"Version now"</th> <th scope="col">"Roles"</th>
                        <th scope="col">"Task or reason"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </Panel>
    }
}
