//! The form that stores a new private key.

use api::cluster::KeySource;
use leptos::prelude::*;

use super::functions::ChangeKey;
use crate::clusters::key_fields::KeyFields;
use crate::form::{Check, Form, FormEnd, FormScope, Submit, endpoint, guard_unsaved};
use crate::ui::{Icon, Panel, icon};

#[component]
pub(super) fn ReplaceKey(cluster: String) -> impl IntoView {
    view! {
        <Panel title="Replace the private key">
            <Form id="key-store" functions={vec![endpoint::<ChangeKey>()]} only=("step", "store") kinds=&["ssh"] multipart=true class="pad stack">
                <input type="hidden" name="cluster" value=cluster/>
                <Fields/>
            </Form>
        </Panel>
    }
}

/// A separate component, because the form's answer is only available inside `Form`.
#[component]
fn Fields() -> impl IntoView {
    let scope = expect_context::<FormScope>();
    // The server never sends a key back, so it must be entered again after a refusal.
    let again = scope.typed().is_some() && scope.value("ssh").as_deref() == Some(KeySource::Paste.as_str());
    let typed = RwSignal::new(false);
    guard_unsaved(typed.into());
    view! {
        <p class="muted">
            "The new key is stored beside the current one, and runs keep using the current one. Add the new public key to the machines and test it. Then use it; the replaced key is kept, so that you can go back."
        </p>
        <details class="advanced" open=scope.typed().is_some()>
            <summary>{icon(Icon::ChevronRight)} "Store a new key"</summary>
            <div class="stack">
                <fieldset>
                    <legend class="sr">"New private key"</legend>
                    <Check radio=true name="ssh" value=KeySource::Generate.as_str() label="Generate a new key pair" checked=true
                        hint="You get the public key and add it to the machines."/>
                    <Check radio=true name="ssh" value=KeySource::Paste.as_str() label="Use an existing key"
                        hint="Paste or upload the private key. It is stored in the cluster's Secret and never shown again."/>
                </fieldset>
                <div class="key-fields stack" on:input=move |_| typed.set(true)>
                    <KeyFields again/>
                </div>
                <FormEnd>
                    <Submit label="Store the new key"/>
                </FormEnd>
            </div>
        </details>
    }
}
