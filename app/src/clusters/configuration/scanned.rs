//! The host keys that a scan found, for the user to compare.

use api::configuration::{MachineKey, Standing};
use leptos::prelude::*;

use crate::ui::{Alert, Status, Tone};

#[component]
pub(super) fn Scanned(machines: Vec<MachineKey>) -> impl IntoView {
    let any = |standing| machines.iter().any(|machine| machine.standing == standing);
    let (changed, new, revoked) = (any(Standing::Changed), any(Standing::New), any(Standing::Revoked));
    view! {
        <section class="form-answer" tabindex="-1" aria-label="Scanned host keys">
            <h3>"Scanned host keys"</h3>
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
                            <th scope="col">"Status"</th>
                            <th scope="col">"Key type"</th>
                            <th scope="col">"Fingerprint"</th>
                        </tr>
                    </thead>
                    <tbody>{machines.into_iter().map(|machine| view! { <Row machine/> }).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

#[component]
fn Row(machine: MachineKey) -> impl IntoView {
    let (tone, word) = match machine.standing {
        Standing::New => (Tone::Warn, "New"),
        Standing::Confirmed => (Tone::Ok, "Matches"),
        Standing::Changed => (Tone::Err, "Changed"),
        Standing::Revoked => (Tone::Err, "Revoked"),
        Standing::Unseen => (Tone::Idle, "No key found"),
    };
    view! {
        <tr>
            <th scope="row" class="name">{machine.name}</th>
            <td class="mono">{machine.address}</td>
            <td><Status tone word/></td>
            <td class="mono">{machine.algorithm}</td>
            <td class="mono">{machine.fingerprint}</td>
        </tr>
    }
}
