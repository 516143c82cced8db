//! The address that is requested while operations run.

use leptos::prelude::*;

use super::functions::SetProbe;
use crate::form::{Field, Form, FormEnd, Submit, endpoint, guard_unsaved};
use crate::ui::{Panel, Status, Tone};

#[component]
pub(super) fn Probe(
    cluster: String,
    /// Empty if none is requested.
    url: String,
    /// Whether it was just saved.
    saved: bool,
) -> impl IntoView {
    let typed = RwSignal::new(false);
    guard_unsaved(typed.into());
    view! {
        <Panel title="Availability">
            <div on:input=move |_| typed.set(true) on:submit=move |_| typed.set(false)>
            <Form id="probe" functions=vec![endpoint::<SetProbe>()] class="pad stack form-width">
                <p class="muted">
                    "While an operation runs, the server requests the Kubernetes API once per second. Its page shows which requests were answered."
                </p>
                <input type="hidden" name="cluster" value=cluster/>
                <Field
                    name="url"
                    label="A service to request as well"
                    value=url
                    mono=true
                    placeholder="https://shop.example.com/healthz"
                    hint="Optional. The server must reach this address. Answers below status 500 count; their content is not read, and the certificate is not checked."
                />
                <FormEnd>
                    <Submit label="Save the address" class="btn"/>
                    {saved.then(|| view! { <Status tone=Tone::Ok word="Saved"/> })}
                </FormEnd>
            </Form>
            </div>
        </Panel>
    }
}
