//! The key that was replaced last.

use api::configuration::StoredKey;
use leptos::prelude::*;

use super::functions::ChangeKey;
use super::hidden;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::ui::{Fact, Facts, Panel};

#[component]
pub(super) fn PreviousKey(cluster: String, key: StoredKey) -> impl IntoView {
    let hidden = hidden(cluster, key.id);
    view! {
        <Panel title="Previous private key">
            <Facts>
                <Fact label="Fingerprint">
                    {match key.fingerprint {
                        Some(print) => view! { <span class="mono">{print}</span> }.into_any(),
                        None => "unknown".into_any(),
                    }}
                </Fact>
                <Fact label="State">"Not used by runs. The machines still accept it until you remove its public key from them."</Fact>
            </Facts>
            <div class="pad bar">
                <Form id="key-back" functions={vec![endpoint::<ChangeKey>()]} only=("step", "back")>
                    {hidden()}
                    <FormEnd><Submit label="Use the previous key again" class="btn"/></FormEnd>
                </Form>
                <Form id="key-forget" functions={vec![endpoint::<ChangeKey>()]} only=("step", "forget")>
                    {hidden()}
                    <FormEnd><Submit label="Delete the previous key" class="btn danger"/></FormEnd>
                </Form>
            </div>
        </Panel>
    }
}
