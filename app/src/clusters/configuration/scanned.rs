//! What the machines showed as their host keys, to be compared by a person.

use api::configuration::{MachineKey, Standing};
use leptos::prelude::*;

use crate::ui::{Alert, Status, Tone};

#[component]
pub(super) fn Scanned(machines: Vec<MachineKey>) -> impl IntoView {
    let any = |standing| machines.iter().any(|machine| machine.standing == standing);
    let (changed, new, revoked) = (any(Standing::Changed), any(Standing::New), any(Standing::Revoked));
    view! {
        <section class="form-answer" tabindex="-1" aria-label="What the machines show">
            <h3>"What the machines show"</h3>
            {changed
                .then(|| {
                    view! {
                        <Alert
                            tone=Tone::Err
                            title="A machine shows another key than the confirmed one. Either it was set up again, or something stands between."
                        />
                    }
                })}
            {revoked
                .then(|| {
                    view! {
                        <Alert
                            tone=Tone::Err
                            title="A machine shows only keys that the record marks as revoked. Give it another one before anything runs on it."
                        />
                    }
                })}
            {(changed || new)
                .then(|| {
                    view! {
                        <p>
                            "Compare each fingerprint with what the machine itself says on its own console: "
                            <code class="mono">"ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"</code>
                            ". Save only what is the same."
                        </p>
                    }
                })}
            <div class="scroll" tabindex="0" role="region" aria-label="Host keys of the machines">
                <table class="rows">
                    <thead>
                        <tr>
                            <th scope="col">"Machine"</th>
                            <th scope="col">"Address"</th>
                            <th scope="col">"Against the record"</th>
                            <th scope="col">"Key"</th>
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
        Standing::Confirmed => (Tone::Ok, "As confirmed"),
        Standing::Changed => (Tone::Err, "Changed"),
        Standing::Revoked => (Tone::Err, "Revoked"),
        Standing::Unseen => (Tone::Idle, "No key seen"),
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
