//! The page, put together.

use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::{use_location, use_params_map, use_query_map};

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
    ui::{Alert, Loaded, PageTitle, Skeleton, Tone, when_known},
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
    // The parts are split functions, which take no arguments.
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
            <Part run of=Tab::Hosts/>
            <Part run of=Tab::Results/>
            <Part run of=Tab::Inputs/>
        </section>
    }
}

/// A part whose code and content come when it is opened for the first time; it then stays.
#[component]
fn Part(run: Run, of: Tab) -> impl IntoView {
    let opened = Memo::new(move |before: Option<&bool>| before.is_some_and(|opened| *opened) || run.tab.get() == of);
    let (arrived, missing) = (RwSignal::new(of.page().is_some_and(Page::is_here)), RwSignal::new(false));
    // Every time it is opened until it is there.
    Effect::new(move |_| {
        let Some(page) = of.page().filter(|_| run.tab.get() == of && !arrived.get_untracked()) else { return };
        missing.set(false);
        spawn_local(async move {
            let came = page.fetch().await.is_ok();
            missing.try_set(!came);
            arrived.try_set(came);
        });
    });
    let content = move || {
        opened.get().then(|| match of.page().filter(|_| arrived.get()).and_then(Page::open_now) {
            Some(view) => view,
            None if missing.get() => view! { <MissingPart href=run.url(of)/> }.into_any(),
            None => view! { <Skeleton/> }.into_any(),
        })
    };
    view! { <div hidden=move || run.tab.get() != of>{content}</div> }
}

/// The code of a part did not come: the log beside it goes on, and the server can show the part by itself.
#[component]
fn MissingPart(href: String) -> impl IntoView {
    view! {
        <div class="tab-empty" role="alert">
            <Alert tone=Tone::Warn title="This part of the page can't be loaded.">
                <p>"The server can't be reached, or it was upgraded since this page was opened. The log goes on; open this part again to try once more."</p>
                <div class="bar"><a class="btn" href=href rel="external">"Load the whole page anew"</a></div>
            </Alert>
        </div>
    }
}
