//! The review of a registration: warnings, machines, and the files to be written.

use api::cluster::RegistrationReview;
use leptos::prelude::*;

use crate::ui::{Alert, Panel, Tone};
use crate::words::count;

#[component]
pub(super) fn Review(review: RegistrationReview) -> impl IntoView {
    let machines = count(review.nodes.len() as u64, "machine", "machines");
    view! {
        <section class="form-answer stack" tabindex="-1" aria-label="Review">
            {review
                .warnings
                .into_iter()
                .map(|warning| view! { <Alert tone=Tone::Warn title=warning/> })
                .collect_view()}
            <Panel title=machines>
                <div class="scroll" tabindex="0" role="region" aria-label="Machines">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"Host"</th> <th scope="col">"Roles"</th> <th scope="col">"Address"</th>
                                <th scope="col">"Connection"</th>
                            </tr>
                        </thead>
                        <tbody>
                            {review
                                .nodes
                                .into_iter()
                                .map(|node| {
                                    view! {
                                        <tr>
                                            <th scope="row"><span class="name">{node.name}</span></th>
                                            <td>{node.roles.join(", ")}</td>
                                            <td class="mono">{node.address}</td>
                                            <td class="mono">{node.reached_by}</td>
                                        </tr>
                                    }
                                })
                                .collect_view()}
                        </tbody>
                    </table>
                </div>
            </Panel>
            {review
                .files
                .into_iter()
                .map(|file| {
                    view! { <Panel title=file.title><pre class="file" tabindex="0">{file.text}</pre></Panel> }
                })
                .collect_view()}
        </section>
    }
}
