//! How the machines will be reached.

use leptos::prelude::*;

use crate::{
    form::FormScope,
    ui::{Alert, Check, FileField, Panel, TextArea, Tone},
};

#[component]
pub(super) fn SshChoice() -> impl IntoView {
    view! {
        <div class="pad stack">
            <fieldset>
                <legend class="sr">"SSH key"</legend>
                <Check radio=true name="ssh" value="generate" label="Generate a new key pair" checked=true
                    hint="You get its public half to put on the machines."/>
                <Check radio=true name="ssh" value="paste" label="Use a private key that I have"
                    hint="Paste or upload it below. It is stored in a Secret and never shown again."/>
                <Check radio=true name="ssh" value="none" label="No key"
                    hint="For local connections, or where the inventory says how to sign in."/>
            </fieldset>
            <details open=has_known_hosts()>
                <summary>"Host keys"</summary>
                <TextArea
                    name="known_hosts" label="Host keys, as in known_hosts" rows=4 nowrap=true
                    placeholder="10.0.0.11 ssh-ed25519 AAAA…"
                    hint="Lines of ssh-keyscan that you have checked; you can also scan and confirm them later. With them machines are verified strictly; without, each run trusts the first key that it sees."
                />
            </details>
        </div>
    }
}

fn has_known_hosts() -> bool {
    expect_context::<FormScope>().value("known_hosts").is_some_and(|typed| !typed.trim().is_empty())
}

/// The private key, pasted or as a file.
#[component]
pub(super) fn KeyFields(
    /// It was given before, and is asked for again.
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
                                title="Give the private key once more: it is never sent back to a page, not even to you."
                            />
                        }
                    })}
                <TextArea
                    name="ssh_key" label="Paste it" rows=4 nowrap=true
                    placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
                />
                <FileField name="ssh_key_file" label="Or upload the file" hint="Without a passphrase: nobody could type it at night."/>
            </div>
        </Panel>
    }
}
