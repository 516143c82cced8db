//! The review: the machines' host keys, the change of the inventory, and the operation.

use api::cluster::NodesReview;
use api::configuration::Document;
use leptos::prelude::*;

use super::super::configuration::{Changes, ScannedKeys};
use crate::operations::{Commands, notes, reviewed};
use crate::ui::{Alert, Panel, Tone};
use crate::words::named;

#[component]
pub(super) fn Review(review: NodesReview) -> impl IntoView {
    let (operation, keys) = (review.operation, review.keys);
    let (change, version) = (review.change.clone(), review.change.version);
    let names = named(&review.names.iter().map(String::as_str).collect::<Vec<_>>());
    let has_consequences = !review.consequences.is_empty();
    let title = match review.replaces.as_str() {
        "" => "What happens to the control plane".to_owned(),
        old => format!("What happens to {old}"),
    };
    view! {
        <section class="form-answer stack" tabindex="-1" aria-label="Review">
            {notes(review.warnings.into_iter().chain(operation.warnings), operation.waits_for)}
            {(!keys.is_empty())
                .then(|| {
                    let title = if review.host_keys.is_empty() { "Host keys" } else { "Host keys to confirm" };
                    view! { <Panel title><div class="pad stack"><ScannedKeys machines=keys/></div></Panel> }
                })}
            <Panel title="Change of the inventory">
                <div class="pad stack"><Changes review=change document=Document::Inventory/></div>
            </Panel>
            {has_consequences
                .then(|| {
                    view! {
                        <Alert tone=Tone::Warn title>
                            <ul class="list">
                                {review.consequences.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}
                            </ul>
                        </Alert>
                    }
                })}
            <Panel title="The operation">
                <div class="pad stack">
                    <p>{format!("It installs Kubernetes on {names}. {}", review.others)}</p>
                    <Commands commands=operation.commands usual=operation.usual/>
                </div>
            </Panel>
            <input type="hidden" name="version" value=version/>
            <input type="hidden" name="host_keys" value=review.host_keys/>
            <input type="hidden" name="host_keys_version" value=review.host_keys_version/>
            {reviewed(&operation.name, operation.expected_inputs)}
        </section>
    }
}
