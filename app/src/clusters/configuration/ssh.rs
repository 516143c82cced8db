//! SSH access to the machines. Private keys are write-only: only public parts are shown.

use api::configuration::{Document, SshAccess};
use leptos::prelude::*;

use super::super::current::CurrentCluster;
use super::super::key_fields::PublicKey;
use super::editor::DocumentEditor;
use super::key::PrivateKey;
use crate::ui::{Alert, Fact, Facts, Panel, Tone};
use crate::words::count;

#[component]
pub(super) fn Ssh(here: CurrentCluster, cluster: String, ssh: SshAccess) -> impl IntoView {
    let hosts = match ssh.host_keys.as_ref().map(|record| (record.count, &record.document.problem)) {
        None => "You don't have permission to read them. Runs still use them.".to_owned(),
        Some((0, Some(_))) => "Saved, but unreadable. Runs can't connect over SSH.".to_owned(),
        Some((0, None)) => {
            "None confirmed. Each run trusts the first key it sees, so a man-in-the-middle goes unnoticed.".to_owned()
        }
        Some((n, _)) => format!(
            "{} confirmed. Missing or different keys block the connection.",
            count(n.into(), "host key", "host keys")
        ),
    };
    view! {
        {ssh.problem.map(|problem| view! { <div role="alert"><Alert tone=Tone::Err title=problem/></div> })}
        <Panel title="SSH access">
            <Facts>
                <Fact label="Private key">
                    {match ssh.secret {
                        Some(secret) => view! { "Stored in Secret " <span class="mono">{secret}</span> ". It is never shown." }.into_any(),
                        None => "None. Runs use the credentials in the inventory.".into_any(),
                    }}
                </Fact>
                {ssh.fingerprint.map(|print| view! { <Fact label="Fingerprint"><span class="mono">{print}</span></Fact> })}
                <Fact label="Host keys">{hosts}</Fact>
            </Facts>
            {ssh.public_key.map(|key| {
                view! {
                    <div class="pad stack">
                        <h3>"Public key"</h3>
                        <PublicKey key/>
                    </div>
                }
            })}
        </Panel>
        {ssh.replaceable
            .then(|| view! { <PrivateKey here cluster=cluster.clone() next=ssh.next previous=ssh.previous foreign=ssh.foreign/> })}
        {ssh.host_keys.map(|record| view! { <DocumentEditor cluster document=Document::HostKeys current=record.document/> })}
    }
}
