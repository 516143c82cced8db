//! How the machines are reached. Keys are write-only: only what is public is shown.

use api::configuration::{Document, SshAccess};
use leptos::prelude::*;

use super::editor::DocumentEditor;
use crate::{
    ui::{Alert, Copy, Fact, Facts, Panel, Tone},
    words::count,
};

#[component]
pub(super) fn Ssh(cluster: String, ssh: SshAccess) -> impl IntoView {
    let hosts = match ssh.host_keys.as_ref().map(|record| (record.count, &record.document.problem)) {
        None => "You may not read them. Runs use what is on record all the same.".to_owned(),
        Some((0, Some(_))) => "On record, but not readable: no run reaches a machine over SSH.".to_owned(),
        Some((0, None)) => {
            "None confirmed: each run trusts the first key that it sees, so nobody notices a machine in between."
                .to_owned()
        }
        Some((n, _)) => format!(
            "{} on record. A machine without one, or with another, is not reached.",
            count(n.into(), "host key", "host keys")
        ),
    };
    view! {
        {ssh.problem.map(|problem| view! { <div role="alert"><Alert tone=Tone::Err title=problem/></div> })}
        <Panel title="SSH access">
            <Facts>
                <Fact label="Private key">
                    {match ssh.secret {
                        Some(secret) => view! { "In Secret " <span class="mono">{secret}</span> ". It is never shown." }.into_any(),
                        None => "None: machines are reached with what the inventory says.".into_any(),
                    }}
                </Fact>
                {ssh.fingerprint.map(|print| view! { <Fact label="Fingerprint"><span class="mono">{print}</span></Fact> })}
                <Fact label="Host keys">{hosts}</Fact>
            </Facts>
            {ssh.public_key.map(|key| {
                view! {
                    <div class="pad stack">
                        <h3>"Public key"</h3>
                        <pre class="command" tabindex="0"><code>{key.clone()}</code></pre>
                        <div class="bar"><Copy text=key label="Copy the public key"/></div>
                    </div>
                }
            })}
        </Panel>
        {ssh.host_keys.map(|record| view! { <DocumentEditor cluster document=Document::HostKeys current=record.document/> })}
    }
}
