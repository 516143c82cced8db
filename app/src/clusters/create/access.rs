//! Step 1: the public key on the machines, and their confirmed host keys.

use api::cluster::ConfirmedKeys;
use api::configuration::Document;
use leptos::prelude::*;

use super::super::fix::editor;
use super::super::key_fields::PublicKey;
use crate::ui::{Panel, Status, Tone};
use crate::words::{count, named};

#[component]
pub(super) fn Access(
    cluster: String,
    public_key: Option<String>,
    host_keys: Option<ConfirmedKeys>,
    /// Whether inventory and variables can be used.
    usable: bool,
) -> impl IntoView {
    let (tone, word, sentence) = match usable {
        true => standing(host_keys.as_ref()),
        false => (Tone::Idle, "Not known", "Correct the plan first.".into()),
    };
    let is_open = tone != Tone::Ok;
    let link = host_keys.map(|keys| {
        let word = if keys.missing.is_empty() { "Host keys" } else { "Scan and confirm the host keys" };
        let class = if keys.missing.is_empty() { "link" } else { "btn" };
        view! { <div class="bar"><a class=class href=editor(&cluster, Document::HostKeys)>{word}</a></div> }
    });
    let key = public_key.map(|key| {
        view! {
            <p>
                "Every machine needs this public key in " <code>"~/.ssh/authorized_keys"</code>
                " of the user that logs in. That user is root, or may use sudo without a password."
            </p>
            <PublicKey key/>
        }
    });
    view! {
        <Panel title="1 · Access" end=Some(view! { <Status tone word/> }.into_any())>
            <div class="pad stack">
                {key}
                <details open=is_open>
                    <summary>"Host keys"</summary>
                    <div class="stack"><p>{sentence}</p> {link}</div>
                </details>
            </div>
        </Panel>
    }
}

fn standing(keys: Option<&ConfirmedKeys>) -> (Tone, &'static str, String) {
    let Some(keys) = keys else {
        return (Tone::Idle, "No SSH", "No machine is reached over SSH, so there is no host key to confirm.".into());
    };
    if let Some(problem) = &keys.problem {
        return (Tone::Warn, "Host keys unreadable", problem.clone());
    }
    let missing: Vec<&str> = keys.missing.iter().map(String::as_str).collect();
    if missing.is_empty() {
        let all = count(keys.machines.into(), "host key is", "host keys are");
        return (
            Tone::Ok,
            "Host keys confirmed",
            format!("{all} confirmed. Runs connect only to machines with these keys."),
        );
    }
    if missing.len() as u64 == u64::from(keys.machines) {
        let sentence = "No host key is confirmed, so each run trusts the first key that a machine shows, and a man-in-the-middle goes unnoticed.";
        return (Tone::Warn, "Host keys not confirmed", sentence.into());
    }
    let sentence = format!("The host key of {} is not confirmed, so runs can't connect to it.", named(&missing));
    (Tone::Warn, "Host keys missing", sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_confirmed_key_is_named() {
        let of = |machines, missing: &[&str]| {
            let missing = missing.iter().map(|name| (*name).to_owned()).collect();
            standing(Some(&ConfirmedKeys { machines, missing, problem: None }))
        };
        assert_eq!(of(2, &[]).0, Tone::Ok);
        assert!(of(2, &["a", "b"]).2.starts_with("No host key is confirmed"));
        assert!(of(3, &["b"]).2.contains("The host key of b is not confirmed"));
    }
}
