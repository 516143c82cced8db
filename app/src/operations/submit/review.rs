//! The review: everything that submitting will do.

use api::OperationName;
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
        "Only ansible can tell on which machines".to_owned()
    } else {
        // The plays may name only some of them.
        format!("On at most {}", count(hosts, "machine", "machines"))
    };
    view! {
        <section class="panel review form-answer" tabindex="-1" aria-labelledby="review-title">
            <header>
                <h2 id="review-title">"Review"</h2>
                <span class="end mono">{review.name.to_string()}</span>
            </header>
            <div class="review-body">
                {notes(review.warnings, review.waits_for)}
                <h3>{if review.commands.len() == 1 { "The command" } else { "The commands, in this order" }}</h3>
                <Commands commands=review.commands/>
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
                {reviewed(&review.name, review.expected_inputs)}
                <input type="hidden" name="reviewed" value=fingerprint/>
            </div>
            <footer>
                <span class="muted">"The operation uses the inputs as they are now; if they change while queued, it won't run."</span>
                <Submit label="Submit" function=submit icon=Icon::Play/>
            </footer>
        </section>
    }
}

/// What the user should know before submitting: the warnings, in one alert, and why the operation will be queued.
pub(crate) fn notes(warnings: impl IntoIterator<Item = String>, waits_for: Option<String>) -> impl IntoView {
    let mut warnings: Vec<String> = warnings.into_iter().collect();
    let alert = match warnings.len() {
        0 => None,
        1 => warnings.pop().map(|warning| view! { <Alert tone=Tone::Warn title=warning/> }.into_any()),
        several => Some(view! {
            <Alert tone=Tone::Warn title=format!("{several} warnings")>
                <ul class="list">{warnings.into_iter().map(|warning| view! { <li>{warning}</li> }).collect_view()}</ul>
            </Alert>
        }
        .into_any()),
    };
    view! {
        {alert}
        {waits_for.map(|what| view! { <Alert tone=Tone::Idle title=what/> })}
    }
}

/// The hidden fields with which a form submits what was reviewed.
pub(crate) fn reviewed(name: &OperationName, expected_inputs: String) -> impl IntoView + use<> {
    view! {
        <input type="hidden" name="made_name" value=name.to_string()/>
        <input type="hidden" name="expected_inputs" value=expected_inputs/>
    }
}

/// Commands, argument by argument.
#[component]
pub(crate) fn Commands(commands: Vec<Vec<String>>) -> impl IntoView {
    view! {
        <ol class="commands">
            {commands
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
    }
}
