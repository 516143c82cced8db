//! The ConfigMap with a playbook or script, and its key, chosen from those that exist.

use api::operation::{Draft, SourceChoices};
use leptos::prelude::*;

use super::functions::load_sources;
use crate::clusters::KeepEditing;
use crate::form::{Field, FormScope, Select, Submit, endpoint};
use crate::ui::{Icon, each, key_of};

/// The lists, and what they depend on. In the browser they follow the fields of the form; without JavaScript a button loads them
/// again.
#[derive(Clone, Copy)]
pub(super) struct Sources {
    cluster: RwSignal<String>,
    source: RwSignal<String>,
    key: RwSignal<String>,
    lists: RwSignal<SourceChoices>,
}

impl Sources {
    /// `lists` belong to the cluster and the ConfigMap of `draft`.
    pub(super) fn new(lists: SourceChoices, draft: &Draft) -> Self {
        let field = |name: &str| RwSignal::new(draft.get(name).to_owned());
        Self { cluster: field("cluster"), source: field("source"), key: field("key"), lists: RwSignal::new(lists) }
    }

    /// Call this when the value of a field of the form has changed.
    pub(super) fn changed(self, field: &str, value: String) {
        match field {
            "cluster" => self.cluster.set(value),
            "source" => {
                self.source.set(value);
                self.key.set(String::new());
            }
            "key" => return self.key.set(value),
            _ => return,
        }
        self.load();
    }

    fn load(self) {
        let asked = (self.cluster.get_untracked(), self.source.get_untracked());
        leptos::task::spawn_local(async move {
            let loaded = load_sources(asked.0.clone(), asked.1.clone()).await;
            // The user may have chosen something else meanwhile.
            let is_current = self.cluster.try_get_untracked().as_ref() == Some(&asked.0)
                && self.source.try_get_untracked().as_ref() == Some(&asked.1);
            if let (Ok(lists), true) = (loaded, is_current) {
                self.lists.set(lists);
            }
        });
    }
}

#[component]
pub(super) fn SourceFields(sources: Sources) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let Sources { source, key, lists, .. } = sources;
    for (signal, name) in [(source, "source"), (key, "key")] {
        if let Some(typed) = scope.value(name) {
            signal.set(typed);
        }
    }
    // Each field is made again only if its list has changed, so that it keeps the focus while the user chooses.
    let config_maps = move || {
        let list = lists.with(|lists| (lists.config_maps.clone(), lists.note.clone()));
        vec![(key_of(&list), list)]
    };
    let keys = move || {
        let list = lists.with(|lists| (lists.keys.clone(), lists.keys_note.clone()));
        vec![(key_of(&(&list, source.get_untracked())), list)]
    };
    let reload = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        sources.load();
    };
    view! {
        <div class="of-configmap fields">
            {each(config_maps, move |(names, note)| {
                let hint = if note.is_empty() { "In the namespace of the cluster.".into() } else { note };
                choice("source", "ConfigMap", "namespace/name", names, hint, source.get_untracked())
            })}
            {each(keys, move |(names, note)| {
                let what = "A playbook, or a script if the key ends in .sh. The other keys are files in the same folder when it runs.";
                let hint = if note.is_empty() { what.into() } else { note };
                choice("key", "Key", "site.yml", names, hint, key.get_untracked())
            })}
            <div class="bar" on:click=reload>
                <Submit label="Reload the lists" function={endpoint::<KeepEditing>()} class="btn small" icon=Icon::Retry/>
            </div>
        </div>
    }
}

/// A drop-down list of `names`. Without a list: a text field.
fn choice(
    name: &'static str,
    label: &'static str,
    placeholder: &'static str,
    names: Option<Vec<String>>,
    hint: String,
    chosen: String,
) -> AnyView {
    let Some(names) = names else {
        return view! { <Field name label value=chosen overrides=true mono=true placeholder hint/> }.into_any();
    };
    let mut options = vec![(String::new(), "Choose one".to_owned())];
    if !chosen.is_empty() && !names.contains(&chosen) {
        options.push((chosen.clone(), format!("{chosen} (not found)")));
    }
    options.extend(names.into_iter().map(|name| (name.clone(), name)));
    view! { <Select name label options value=chosen overrides=true hint/> }.into_any()
}
