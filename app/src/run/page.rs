//! The page, put together.

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use super::{
    functions::{RunOpening, load_run},
    head::Head,
    hosts::Hosts,
    inputs::Inputs,
    log_panel::LogPanel,
    outcomes::Outcomes,
    reason::ReasonAlert,
    state::Run,
    tabs::{RunTabs, Tab},
    totals::Totals,
};
use crate::ui::{Loaded, PageTitle, when_known};

/// One run, by the name in the URL.
#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let name = Memo::new(move |_| params.read().get("name").unwrap_or_default());
    // Without JavaScript older lines are other pages.
    let from = Memo::new(move |_| query.read().get("from").and_then(|from| from.parse().ok()).unwrap_or_default());
    let opening = Resource::new(move || (name.get(), from.get()), |(name, from)| load_run(name, from));
    // A page that can't show its run still says whose page it is.
    let untitled = when_known(opening, move |opening| {
        opening.is_err().then(|| view! { <PageTitle text=format!("Operation {}", name.get())/> })
    });
    view! {
        <Transition>{untitled}</Transition>
        <Loaded resource=opening let:opening>
            <RunView opening/>
        </Loaded>
    }
}

#[component]
fn RunView(opening: RunOpening) -> impl IntoView {
    let tab = Tab::parse(&use_query_map().read_untracked().get("tab").unwrap_or_default());
    let run = Run::open(opening, tab);
    run.go_live();
    let hidden = move |of: Tab| move || run.tab.get() != of;
    view! {
        <Head run/>
        <ReasonAlert run/>
        <Totals run/>
        <section class="panel run-panel" aria-label="Run">
            <RunTabs run/>
            <div hidden=hidden(Tab::Log)>
                <LogPanel run/>
            </div>
            <div hidden=hidden(Tab::Hosts)>
                <Hosts run/>
            </div>
            <div hidden=hidden(Tab::Results)>
                <Outcomes run/>
            </div>
            <div hidden=hidden(Tab::Inputs)>
                <Inputs run/>
            </div>
        </section>
    }
}
