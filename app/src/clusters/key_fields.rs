//! The fields for a private key, and a public key to copy.

use leptos::prelude::*;

use crate::form::{FileField, TextArea};
use crate::ui::{Alert, Copy, Tone};

/// Fields for a private key: pasted, or as a file.
#[component]
pub(super) fn KeyFields(
    /// Whether the key was entered before and has to be entered again.
    again: bool,
) -> impl IntoView {
    view! {
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
    }
}

/// A public key, and a button that copies it.
#[component]
pub(super) fn PublicKey(key: String, #[prop(default = "Copy public key")] label: &'static str) -> impl IntoView {
    view! {
        <pre class="command" tabindex="0"><code>{key.clone()}</code></pre>
        <div class="bar"><Copy text=key label/></div>
    }
}
