//! The choice of SSH key and host keys for a new cluster.

use leptos::prelude::*;

use crate::form::{Check, FileField, FormScope, TextArea};
use crate::ui::{Alert, Panel, Tone};

#[component]
pub(super) fn SshChoice() -> impl IntoView {
    view! {
        <div class="pad stack">
            <fieldset>
                <legend class="sr">"SSH key"</legend>
                <Check radio=true name="ssh" value="generate" label="Generate a new key pair" checked=true
                    hint="You get the public key and add it to the machines."/>
                <Check radio=true name="ssh" value="paste" label="Use an existing key"
                    hint="Paste or upload the private key below. It is stored in a Secret and never shown again."/>
                <Check radio=true name="ssh" value="none" label="No key"
                    hint="For local connections, or if the inventory has the credentials."/>
            </fieldset>
            <details open=has_known_hosts()>
                <summary>"Host keys"</summary>
                <TextArea
                    name="known_hosts" label="Host keys, known_hosts format" rows=4 nowrap=true
                    placeholder="10.0.0.11 ssh-ed25519 AAAA…"
                    hint="Paste output of ssh-keyscan that you have verified, or scan and confirm the keys later. With host keys, every connection is verified. Without them, each run trusts the first key it sees."
                />
            </details>
        </div>
    }
}

fn has_known_hosts() -> bool {
    expect_context::<FormScope>().value("known_hosts").is_some_and(|typed| !typed.trim().is_empty())
}

/// Fields for the private key: pasted, or as a file.
#[component]
pub(super) fn KeyFields(
    /// Whether the key was entered before and has to be entered again.
    again: bool,
) -> impl IntoView {
    view! {
        <Panel title="Private key">
            <div class="pad stack">
                {again
                    .then(|| {
                        view! {
                            <Alert
                                tone=Tone::Warn
                                title="Enter the private key again. The server never sends it back to the browser."
                            />
                        }
                    })}
                <TextArea
                    name="ssh_key" label="Paste the private key" rows=4 nowrap=true
                    placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
                />
                <FileField name="ssh_key_file" label="Or upload a key file" hint="Keys with a passphrase aren't supported."/>
            </div>
        </Panel>
    }
}
