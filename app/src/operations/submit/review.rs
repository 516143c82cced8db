//! The review: everything that submitting will do.

use api::operation::OperationReview;
use leptos::prelude::*;

use crate::form::Submit;
use crate::ui::{Alert, Copy, Icon, Tone, icon};
use crate::words::count;

/// Shows the server's review. `fingerprint` is that of the reviewed form.
#[component]
pub(super) fn Review(review: OperationReview, fingerprint: String, submit: &'static str) -> impl IntoView {
    let hosts = review.hosts.len() as u64;
    let on = if hosts == 0 {
        "Machines: determined by ansible during the run".to_owned()
    } else {
        format!("On {}", count(hosts, "machine", "machines"))
    };
    view! {
        <section class="panel review form-answer" tabindex="-1" aria-labelledby="review-title">
            <header>
                <h2 id="review-title">"Review"</h2>
                <span class="end mono">{review.name.to_string()}</span>
            </header>
            <div class="review-body">
                {review.warnings.into_iter().map(|warning| view! { <Alert tone=Tone::Warn title=warning/> }).collect_view()}
                {review.waits_for.map(|what| view! { <Alert tone=Tone::Idle title=what/> })}
                <h3>{if review.commands.len() == 1 { "The command" } else { "The commands, in this order" }}</h3>
                <ol class="commands">
                    {review
                        .commands
                        .into_iter()
                        .map(|command| {
                            view! {
                                <li>
                                    {command.into_iter().map(|argument| view! { <code>{argument}</code> " " }).collect_view()}
                                </li>
                            }
                        })
                        .collect_view()}
                </ol>
                <h3>{on}</h3>
                <p class="tags">
                    {review.hosts.into_iter().map(|host| view! { <span class="tag">{host}</span> " " }).collect_view()}
                </p>
                <details class="manifest">
                    <summary>{icon(Icon::ChevronRight)} "The manifest, as it will be created"</summary>
                    <div class="bar">
                        <Copy text=review.manifest.clone()/>
                    </div>
                    <pre tabindex="0">{review.manifest.clone()}</pre>
                </details>
                <input type="hidden" name="made_name" value=review.name.to_string()/>
                <input type="hidden" name="expected_inputs" value=review.expected_inputs/>
                <input type="hidden" name="reviewed" value=fingerprint/>
            </div>
            <footer>
                <span class="muted">"The operation uses the inputs as they are now; if they change while queued, it won't run."</span>
                <Submit label="Submit" function=submit icon=Icon::Play/>
            </footer>
        </section>
    }
}
