//! Registering a cluster: a form with name, machines, SSH access and variables, then a review of the files to be written.

pub(super) mod functions;
mod review;
mod ssh;

use api::cluster::{KeySource, Purpose, RegistrationReview};
use functions::{RegisterCluster, ReviewCluster};
use leptos::prelude::*;
use review::Review;
use ssh::SshChoice;

use super::configuration::functions::KeepEditing;
use super::key_fields::KeyFields;
use super::machines::{Machines, MachinesFor};
use super::settings::SettingsFields;
use crate::form::{Check, Field, Form, FormEnd, FormScope, Submit, TextArea, endpoint, guard_unsaved};
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
        <Form id="new-cluster" functions kinds=&["ssh"] multipart=true class="stack form-width">
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
    let key_again = scope.typed().is_some() && scope.value("ssh").as_deref() == Some(KeySource::Paste.as_str());
    let typed = RwSignal::new(false);
    guard_unsaved(typed.into());
    view! {
        {optional(move || reviewed.get().map(|review| view! { <Review review/> }))}
        <div class="stack" hidden=move || reviewing.get() on:input=move |_| typed.set(true)>
            <Panel title="1 · Cluster">
                <div class="pad cols">
                    <Field
                        name="name" label="Name" mono=true autofocus=true placeholder="prod-fra"
                        hint="Lower-case letters, digits, “-” and “.”; at most 63 characters."
                    />
                    <Field
                        name="namespace" label="Namespace" mono=true placeholder="kubeonkube-clusters"
                        hint="Where the cluster's ConfigMaps and Secret are stored. Leave empty for the console's default."
                    />
                </div>
                <fieldset class="pad">
                    <legend class="sr">"What the cluster is to be"</legend>
                    <Check radio=true name="purpose" value=Purpose::Create.as_str() label="Create a Kubernetes cluster" checked=true
                        hint="On these machines. The next page checks them, shows the plan, and runs it when you say so."/>
                    <Check radio=true name="purpose" value=Purpose::Existing.as_str() label="Manage an existing cluster"
                        hint="Kubernetes runs on these machines already, or something else installs it."/>
                </fieldset>
            </Panel>
            <Panel title="2 · Machines"><Machines purpose=MachinesFor::Register/></Panel>
            <Panel title="3 · SSH access"><SshChoice/></Panel>
        </div>
        <div class="key-fields" hidden=move || reviewing.get() && !key_again>
            <Panel title="Private key">
                <div class="pad stack"><KeyFields again=key_again/></div>
            </Panel>
        </div>
        <div class="stack" hidden=move || reviewing.get() on:input=move |_| typed.set(true)>
            <div class="kubernetes-fields"><Panel title="4 · Kubernetes"><SettingsFields/></Panel></div>
            <Panel title="5 · Variables">
                <div class="pad">
                    <TextArea
                        name="variables" label="Variables, YAML" rows=8 nowrap=true
                        placeholder="dns_domain: cluster.local\nkubelet_max_pods: 110"
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
