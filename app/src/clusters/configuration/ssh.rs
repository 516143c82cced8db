//! How the machines are reached. Keys are write-only: only what is public is shown.

use api::configuration::SshAccess;
use leptos::prelude::*;

use crate::ui::{Alert, Copy, Fact, Facts, Panel, Tone};

#[component]
pub(super) fn Ssh(ssh: SshAccess) -> impl IntoView {
    let hosts = match ssh.known_hosts {
        0 => "None confirmed yet: a host is trusted the first time it is reached.".to_owned(),
        1 => "1 confirmed".to_owned(),
        n => format!("{n} confirmed"),
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
    }
}
