//! The review: everything that submitting will do.

use api::operation::{OperationReview, Usual};
use api::{OperationName, Time};
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
                <Commands commands=review.commands usual=review.usual/>
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

/// Commands, argument by argument, and how long such a run usually takes.
#[component]
pub(crate) fn Commands(commands: Vec<Vec<String>>, usual: Option<Usual>) -> impl IntoView {
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
        <p class="muted">{usually(usual)}</p>
    }
}

/// `Takes about 20 s (18 s to 31 s), from the last 3 successful runs.`
fn usually(usual: Option<Usual>) -> String {
    let Some(Usual { ms, shortest, longest, runs }) = usual else {
        return "How long it takes isn't known yet: no run like this has succeeded on this cluster.".into();
    };
    let words = |ms: i64| Time(0).until(Time(ms));
    match runs {
        1 => format!("The last successful run like this took {}.", words(ms)),
        _ => format!(
            "Takes about {} ({} to {}), from the last {runs} successful runs.",
            words(ms),
            words(shortest),
            words(longest)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_runs_tell_how_long_it_takes() {
        let told = |ms, runs| usually(Some(Usual { ms, shortest: 18_000, longest: 31_000, runs }));
        assert_eq!(told(20_000, 3), "Takes about 20 s (18 s to 31 s), from the last 3 successful runs.");
        assert_eq!(told(65_000, 1), "The last successful run like this took 1 min 5 s.");
        assert!(usually(None).contains("isn't known yet"));
    }
}
