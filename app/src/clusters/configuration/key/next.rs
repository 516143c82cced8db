//! A new private key that is not in use yet: its public key, its test, and the step that puts it to use.

use api::configuration::NextKey;
use api::operation::{OperationRow, Phase};
use leptos::prelude::*;

use super::super::super::current::CurrentCluster;
use super::super::super::key_fields::PublicKey;
use super::functions::ChangeKey;
use super::hidden;
use crate::form::{Check, Form, FormEnd, Submit, endpoint};
use crate::routes;
use crate::ui::{Fact, Facts, Panel, Status, dynamic, phase_word, row_icon, row_tone};

#[component]
pub(super) fn NewKey(here: CurrentCluster, cluster: String, next: NextKey) -> impl IntoView {
    let NextKey { key, test } = next;
    let test = newest_test(here, test);
    let hidden = hidden(cluster, key.id);
    view! {
        <Panel title="New private key, not in use yet">
            <Facts>
                {key.fingerprint.map(|print| view! { <Fact label="Fingerprint"><span class="mono">{print}</span></Fact> })}
                <Fact label="Test">{dynamic(move || test_words(test.get()))}</Fact>
            </Facts>
            <ol class="key-steps">
                <li>
                    <h3>"Add the public key to every machine"</h3>
                    <p class="muted">"Append it to ~/.ssh/authorized_keys of the SSH user. Keep the current key there until the new one is in use."</p>
                    {match key.public_key {
                        Some(line) => view! { <PublicKey key=line label="Copy new public key"/> }.into_any(),
                        None => view! { <p class="muted">"The console can't derive the public key of this format. ssh-keygen -y prints it."</p> }.into_any(),
                    }}
                </li>
                <li>
                    <h3>"Test it"</h3>
                    <p class="muted">"ping.yml connects to every machine with the new key and with no other one, and changes nothing. Machines for which the inventory names a connection or key of their own don't use it."</p>
                    <Form id="key-test" functions={vec![endpoint::<ChangeKey>()]} only=("step", "test") class="stack">
                        {hidden()}
                        <FormEnd><Submit label="Test the new key" class="btn"/></FormEnd>
                    </Form>
                </li>
                <li>
                    <h3>"Use it"</h3>
                    <p class="muted">"Runs then connect with the new key. The current one is kept as the previous key."</p>
                    <Form id="key-use" functions={vec![endpoint::<ChangeKey>()]} only=("step", "use") class="stack">
                        {hidden()}
                        {dynamic(move || {
                            let passed = test.with(|test| test.as_ref().is_some_and(|test| test.phase == Phase::Succeeded));
                            (!passed).then(|| view! {
                                <Check name="untested" value="yes" label="Use it without a successful test"
                                    hint="If it doesn't work, no run can connect until you go back to the previous key."/>
                            }).into_any()
                        })}
                        <FormEnd><Submit label="Use the new key"/></FormEnd>
                    </Form>
                </li>
            </ol>
            <Form id="key-discard" functions={vec![endpoint::<ChangeKey>()]} only=("step", "discard") class="pad stack">
                {hidden()}
                <FormEnd><Submit label="Delete the new key" class="btn danger"/></FormEnd>
            </Form>
        </Panel>
    }
}

/// The newest test. In the browser it follows the operations of the cluster.
fn newest_test(here: CurrentCluster, loaded: Option<OperationRow>) -> RwSignal<Option<OperationRow>> {
    let test = RwSignal::new(loaded);
    #[cfg(feature = "hydrate")]
    Effect::new(move |before: Option<u64>| {
        let news = here.news.get();
        if before.is_some_and(|before| before != news) {
            let cluster = here.name.get_untracked();
            leptos::task::spawn_local(async move {
                // A late answer must not replace a newer one.
                if let Ok(loaded) = super::super::functions::load_configuration(cluster).await
                    && here.news.try_get_untracked() == Some(news)
                    && let Some(next) = loaded.ssh.next
                {
                    test.try_set(next.test);
                }
            });
        }
        news
    });
    #[cfg(not(feature = "hydrate"))]
    let _ = here;
    test
}

fn test_words(test: Option<OperationRow>) -> AnyView {
    match test {
        None => view! { <span class="muted">"Not tested"</span> }.into_any(),
        Some(test) => view! {
            <Status tone=row_tone(&test) icon=row_icon(&test) word=phase_word(&test)/>
            " "
            <a class="link" href=routes::operation(&test.name)>{test.name.to_string()}</a>
            {(test.phase == Phase::Failed).then(|| view! { <p class="muted">{test.message.clone()}</p> })}
        }
        .into_any(),
    }
}
