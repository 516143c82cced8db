//! The page, put together.

use leptos::{prelude::*, task::spawn_local};
use leptos_router::{
    ChooseView,
    hooks::{use_params_map, use_query_map},
};

use super::{
    functions::{RunOpening, load_run},
    head::Head,
    log_panel::LogPanel,
    reason::ReasonAlert,
    state::Run,
    tabs::{RunTabs, Tab},
    totals::Totals,
};
use crate::{
    chunks::Page,
    json::data,
    ui::{Loaded, PageTitle, Skeleton, when_known},
};

/// One run, by the name in the URL.
#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let name = Memo::new(move |_| params.read().get("name").unwrap_or_default());
    // Without JavaScript older lines are other pages.
    let from = Memo::new(move |_| query.read().get("from").and_then(|from| from.parse().ok()).unwrap_or_default());
    let opening = data(move || (name.get(), from.get()), |(name, from)| load_run(name, from));
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
    provide_context(run);
    view! {
        <Head run/>
        <ReasonAlert run/>
        <Totals run/>
        <section class="panel run-panel" aria-label="Run">
            <RunTabs run/>
            <div hidden=move || run.tab.get() != Tab::Log>
                <LogPanel run/>
            </div>
            <Part run of=Tab::Hosts page=Page::RunHosts/>
            <Part run of=Tab::Results page=Page::RunOutcomes/>
            <Part run of=Tab::Inputs page=Page::RunInputs/>
        </section>
    }
}

/// A part whose code and content come when it is opened for the first time; it then stays.
#[component]
fn Part(run: Run, of: Tab, page: Page) -> impl IntoView {
    let opened = Memo::new(move |before: Option<&bool>| before.is_some_and(|opened| *opened) || run.tab.get() == of);
    let arrived = RwSignal::new(());
    let content = move || {
        opened.get().then(|| {
            arrived.track();
            page.open_now().unwrap_or_else(|| {
                spawn_local(async move {
                    page.preload().await;
                    arrived.try_set(());
                });
                view! { <Skeleton/> }.into_any()
            })
        })
    };
    view! { <div hidden=move || run.tab.get() != of>{content}</div> }
}
