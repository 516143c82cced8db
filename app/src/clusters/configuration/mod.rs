//! The Configuration tab: inventory, variables and SSH access. A change is reviewed before it is saved, and a conflict shows
//! both versions.

mod conflict;
mod editor;
mod excerpt;
pub(super) mod functions;
mod hints;
mod key;
mod review;
mod scanned;
pub(super) mod secrets;
mod ssh;

pub(super) use review::Changes;
pub(super) use scanned::ScannedKeys;

use api::configuration::{Configuration, Document};
use editor::DocumentEditor;
use functions::load_configuration;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};
use secrets::Secrets;
use ssh::Ssh;

use super::current::CurrentCluster;
use crate::form::Submission;
use crate::json::data;
use crate::routes;
use crate::ui::{Alert, Loaded, Segment, Segments, Tone, dynamic, optional};

#[component]
pub fn ClusterConfigurationPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    let query = use_query_map();
    let location = use_location();
    let submission = expect_context::<Submission>();
    let show = Memo::new(move |_| query.read().get("show").unwrap_or_default());
    // Saving redirects to another URL of this page, which loads the new version. The page is deliberately not live: a text
    // must not change while a user edits it. Review and save detect conflicts.
    let configuration = data(move || (here.name.get(), location.search.get()), |(name, _)| load_configuration(name));
    let path = move || routes::cluster_tab(here.name.get(), "configuration");
    let segments = Signal::derive(move || {
        [("Inventory", ""), ("Variables", "variables"), ("Secret variables", secrets::SHOWN_AT), ("SSH access", "ssh")]
            .into_iter()
            .map(|(word, at)| Segment {
                word: word.into(),
                href: routes::with_query(&path(), &[("show", at)]),
                current: show.get() == at,
            })
            .collect::<Vec<_>>()
    });
    view! {
        <Segments label="Which document" segments/>
        <Loaded resource=configuration let:configuration>
            {
                let Configuration { inventory, variables, ssh, secrets, .. } = configuration;
                let cluster = here.name.get_untracked();
                // With the new state: the old one would be edited, and its buttons would act on a key that was replaced meanwhile.
                let is_saved = query.with_untracked(|query| query.get("saved").is_some());
                let saved = optional(move || (is_saved && !submission.came_back()).then(|| view! { <Saved here show/> }));
                let done = query.with_untracked(|query| key::done(query).or_else(|| secrets::done(query)));
                let done = done.map(|words| view! { <div role="status"><Alert tone=Tone::Ok title=words/></div> });
                let document = match show.get_untracked().as_str() {
                    "variables" => view! { <DocumentEditor cluster document=Document::Variables current=variables/> }.into_any(),
                    secrets::SHOWN_AT => view! { <Secrets cluster secrets/> }.into_any(),
                    "ssh" => view! { <Ssh here cluster ssh/> }.into_any(),
                    _ => view! { <DocumentEditor cluster document=Document::Inventory current=inventory/> }.into_any(),
                };
                view! { {saved} {done} {document} }
            }
        </Loaded>
    }
}

#[component]
fn Saved(here: CurrentCluster, show: Memo<String>) -> impl IntoView {
    view! {
        <div role="status">
            {dynamic(move || {
                // Host keys change nothing on the machines, so there is no operation that applies them.
                if show.get() == Document::HostKeys.shown_at() {
                    view! { <Alert tone=Tone::Ok title="Saved. Runs use these host keys from now on."/> }.into_any()
                } else {
                    view! {
                        <Alert tone=Tone::Ok title="Saved. Nothing has run on the machines yet.">
                            <a class="link" href=move || routes::new_operation(&here.name.get(), "")>"Run an operation to apply it"</a>
                        </Alert>
                    }
                    .into_any()
                }
            })}
        </div>
    }
}
