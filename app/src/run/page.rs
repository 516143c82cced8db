//! The page, put together.

use api::operation::Phase;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_params_map, use_query_map};

use super::{
    functions::{RunOpening, load_run},
    head::Head,
    log_panel::LogPanel,
    state::Run,
    tabs::{RunTabs, Tab},
    totals::Totals,
};
use crate::{
    chunks::Page,
    json::data,
    piece::Piece,
    ui::{Loaded, PageTitle, all, when_known},
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
    let tab = Tab::of(&use_location().search.get_untracked());
    let run = Run::open(opening, tab);
    run.go_live();
    // Pieces are split functions, which take no arguments.
    provide_context(run);
    let has_failed = Signal::derive(move || run.phase.get() == Phase::Failed);
    view! {
        <Head run/>
        <Piece page=Page::RunReason rendered=has_failed.get_untracked() shown=has_failed lives=Signal::derive(move || run.may_change())/>
        <Totals run/>
        <section class="panel run-panel" aria-label="Run">
            <RunTabs run/>
            <div hidden=move || run.tab.get() != Tab::Log>
                <LogPanel run/>
            </div>
            {all(Tab::ALL.into_iter().filter_map(|of| Some(view! { <Part run of page=of.page()?/> })))}
        </section>
    }
}

/// What is shown in a tab: code and content come when it is opened for the first time, and then stay.
#[component]
fn Part(run: Run, of: Tab, page: Page) -> impl IntoView {
    let is_open = Signal::derive(move || run.tab.get() == of);
    // Inputs can be copied.
    let lives = Signal::derive(move || of == Tab::Inputs || run.may_change());
    view! {
        <div hidden=move || !is_open.get()>
            <Piece page rendered=is_open.get_untracked() shown=is_open lives/>
        </div>
    }
}
