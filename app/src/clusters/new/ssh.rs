//! The choice of SSH key and host keys for a new cluster.

use api::cluster::KeySource;
use leptos::prelude::*;

use crate::form::{Check, FormScope, TextArea};

#[component]
pub(super) fn SshChoice() -> impl IntoView {
    view! {
        <div class="pad stack">
            <fieldset>
                <legend class="sr">"SSH key"</legend>
                <Check radio=true name="ssh" value=KeySource::Generate.as_str() label="Generate a new key pair" checked=true
                    hint="You get the public key and add it to the machines."/>
                <Check radio=true name="ssh" value=KeySource::Paste.as_str() label="Use an existing key"
                    hint="Paste or upload the private key below. It is stored in a Secret and never shown again."/>
                <Check radio=true name="ssh" value=KeySource::None.as_str() label="No key"
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
