//! Replacing the private key: store a new one, test it, use it, go back.

pub(in super::super) mod functions;
mod next;
mod previous;
mod replace;

use api::configuration::{NextKey, StoredKey};
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use next::NewKey;
use previous::PreviousKey;
use replace::ReplaceKey;

use super::super::current::CurrentCluster;
use crate::ui::{Alert, Tone};

/// What the last step did, according to the URL that it redirected to.
pub(super) fn done(query: &ParamsMap) -> Option<&'static str> {
    Some(match query.get("key")?.as_str() {
        "store" => "The new key is stored.",
        "use" => "The new key is in use. The next run connects with it.",
        "discard" => "The new key was deleted. Runs still connect with the current one.",
        "back" => "The keys were exchanged. The next run connects with the one that was the previous key.",
        "forget" => "The previous key was deleted.",
        _ => return None,
    })
}

/// The steps that are possible now.
#[component]
pub(super) fn PrivateKey(
    here: CurrentCluster,
    cluster: String,
    next: Option<NextKey>,
    previous: Option<StoredKey>,
    foreign: bool,
) -> impl IntoView {
    let warning = foreign.then(|| {
        view! {
            <Alert
                tone=Tone::Warn
                title="The Secret was not created by the console. You can replace the key here, but the owner of the Secret may overwrite it."
            />
        }
    });
    view! {
        {warning}
        {match next {
            Some(next) => view! { <NewKey here cluster=cluster.clone() next/> }.into_any(),
            None => view! { <ReplaceKey cluster=cluster.clone()/> }.into_any(),
        }}
        {previous.map(|key| view! { <PreviousKey cluster key/> })}
    }
}

/// The hidden fields of each form: the cluster, and the id of the key that the page shows.
fn hidden(cluster: String, id: String) -> impl Fn() -> AnyView + Copy + Send + Sync {
    let values = StoredValue::new((cluster, id));
    move || {
        let (cluster, id) = values.get_value();
        view! {
            <input type="hidden" name="cluster" value=cluster/>
            <input type="hidden" name="key" value=id/>
        }
        .into_any()
    }
}
