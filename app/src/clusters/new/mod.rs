//! Registering a cluster: a form with name, machines, SSH access and variables, then a review of the files to be written.

pub(super) mod functions;
mod machines;
mod review;
mod ssh;

use api::cluster::RegistrationReview;
use functions::{RegisterCluster, ReviewCluster};
use leptos::prelude::*;
use machines::Machines;
use review::Review;
use ssh::{KeyFields, SshChoice};

use super::configuration::functions::KeepEditing;
use crate::form::{Field, Form, FormEnd, FormScope, Submit, TextArea, endpoint};
use crate::routes;
use crate::ui::{PageTitle, Panel, dynamic, optional};

#[component]
pub fn NewClusterPage() -> impl IntoView {
    let functions = vec![endpoint::<ReviewCluster>(), endpoint::<RegisterCluster>(), endpoint::<KeepEditing>()];
    view! {
        <PageTitle text="Register a cluster"/>
        <p class="muted lead">
            "Registering changes nothing on the machines. It saves which machines belong to the cluster and how to connect to them. You review every file before it is written."
        </p>
        <Form id="new-cluster" functions multipart=true class="stack form-width">
            <Steps/>
        </Form>
    }
}

/// A separate component, because the form's answer is only available inside `Form`.
#[component]
fn Steps() -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let reviewed = Signal::derive(move || scope.answered().and_then(|answer| answer.answer::<RegistrationReview>()));
    let reviewing = Signal::derive(move || reviewed.get().is_some());
    // The server never sends a private key back. After a submission without JavaScript the user must enter it again, so its
    // fields stay visible.
    let key_again = scope.typed().is_some() && scope.value("ssh").as_deref() == Some("paste");
    view! {
        {optional(move || reviewed.get().map(|review| view! { <Review review/> }))}
        <div class="stack" hidden=move || reviewing.get()>
            <Panel title="1 · Name">
                <div class="pad cols">
                    <Field
                        name="name" label="Name" mono=true autofocus=true placeholder="prod-fra"
                        hint="Lower-case letters, digits, “-” and “.”; at most 63 characters."
                    />
                    <Field
                        name="namespace" label="Namespace" mono=true placeholder="kubeonkube"
                        hint="Where the cluster's ConfigMaps and Secret are stored. Leave empty for the console's namespace."
                    />
                </div>
            </Panel>
            <Panel title="2 · Machines"><Machines/></Panel>
            <Panel title="3 · SSH access"><SshChoice/></Panel>
        </div>
        <div class="key-fields" hidden=move || reviewing.get() && !key_again>
            <KeyFields again=key_again/>
        </div>
        <div class="stack" hidden=move || reviewing.get()>
            <Panel title="4 · Variables">
                <div class="pad">
                    <TextArea
                        name="variables" label="Variables, YAML" rows=8 nowrap=true
                        placeholder="kube_version: 1.34.4\nkube_network_plugin: calico"
                        hint="The playbooks read these as group_vars. You can leave them empty now and add them later."
                    />
                </div>
            </Panel>
        </div>
        <FormEnd>
            {dynamic(move || {
                if reviewing.get() {
                    view! {
                        <Submit label="Register the cluster" function={endpoint::<RegisterCluster>()}/>
                        <Submit label="Back to the form" function={endpoint::<KeepEditing>()} class="btn"/>
                    }
                    .into_any()
                } else {
                    view! {
                        <Submit label="Review" function={endpoint::<ReviewCluster>()}/>
                        <a class="btn" href=routes::CLUSTERS>"Cancel"</a>
                    }
                    .into_any()
                }
            })}
        </FormEnd>
    }
}
