//! The host keys that a scan found, for the user to compare.

use api::configuration::{Login, MachineKey, Standing};
use leptos::prelude::*;

use crate::ui::{Alert, Status, Tone};

/// The answer to a scan.
#[component]
pub(super) fn Scanned(machines: Vec<MachineKey>) -> impl IntoView {
    view! {
        <section class="form-answer" tabindex="-1" aria-label="Scanned host keys">
            <h3>"Scanned host keys"</h3>
            <ScannedKeys machines/>
        </section>
    }
}

/// The keys in a table, below what the user has to know about them. With the logins, if any was tried.
#[component]
pub(in super::super) fn ScannedKeys(machines: Vec<MachineKey>) -> impl IntoView {
    let any = |standing| machines.iter().any(|machine| machine.standing == standing);
    let tried = machines.iter().any(|machine| machine.login != Login::NotTried);
    let (changed, new, revoked) = (any(Standing::Changed), any(Standing::New), any(Standing::Revoked));
    view! {
        {changed
            .then(|| {
                view! {
                    <Alert
                        tone=Tone::Err
                        title="A machine's host key differs from the confirmed one. Either the machine was reinstalled, or the connection may be intercepted."
                    />
                }
            })}
        {revoked
            .then(|| {
                view! {
                    <Alert
                        tone=Tone::Err
                        title="A machine has only revoked host keys. Give it a new host key before you run anything on it."
                    />
                }
            })}
        {(changed || new)
            .then(|| {
                view! {
                    <p>
                        "Compare each fingerprint with the output of this command on the machine's own console: "
                        <code class="mono">"ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"</code>
                        ". Save only matching keys."
                    </p>
                }
            })}
        <div class="scroll" tabindex="0" role="region" aria-label="Host keys of the machines">
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Machine"</th>
                        <th scope="col">"Address"</th>
                        <th scope="col">"Host key"</th>
                        {tried.then(|| view! { <th scope="col">"Login"</th> })}
                        <th scope="col">"Key type"</th>
                        <th scope="col">"Fingerprint"</th>
                    </tr>
                </thead>
                <tbody>{machines.into_iter().map(|machine| view! { <Row machine tried/> }).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(machine: MachineKey, tried: bool) -> impl IntoView {
    let (tone, word) = match machine.standing {
        Standing::New => (Tone::Warn, "New"),
        Standing::Confirmed => (Tone::Ok, "Matches"),
        Standing::Changed => (Tone::Err, "Changed"),
        Standing::Revoked => (Tone::Err, "Revoked"),
        Standing::Unseen => (Tone::Idle, "No key found"),
    };
    let login = match machine.login {
        Login::Works => (Tone::Ok, "Works"),
        Login::Fails => (Tone::Err, "Fails"),
        Login::NotTried => (Tone::Idle, "Not checked"),
    };
    view! {
        <tr>
            <th scope="row" class="name">{machine.name}</th>
            <td class="mono">{machine.address}</td>
            <td><Status tone word/></td>
            {tried.then(|| view! { <td><Status tone=login.0 word=login.1/></td> })}
            <td class="mono">{machine.algorithm}</td>
            <td class="mono">{machine.fingerprint}</td>
        </tr>
    }
}
