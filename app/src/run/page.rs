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
            {Tab::ALL.into_iter().filter_map(|of| Some(view! { <Part run of page=of.page()?/> })).collect_view()}
        </section>
    }
}

/// Where the code of a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Coming,
    Here,
    Missing,
}

/// A part whose code and content come when it is opened for the first time; it then stays.
#[component]
fn Part(run: Run, of: Tab, page: Page) -> impl IntoView {
    let opened = Memo::new(move |before: Option<&bool>| before.is_some_and(|opened| *opened) || run.tab.get() == of);
    let code = RwSignal::new(if page.is_here() { Code::Here } else { Code::Coming });
    // Every time it is opened until it is there.
    Effect::new(move |_| {
        if run.tab.get() != of || code.get_untracked() == Code::Here {
            return;
        }
        code.set(Code::Coming);
        spawn_local(async move {
            let came = page.fetch().await.is_ok();
            code.try_set(if came { Code::Here } else { Code::Missing });
        });
    });
    let missing = move || view! { <MissingPart href=run.url(of)/> }.into_any();
    let content = move || {
        opened.get().then(|| match code.get() {
            Code::Coming => view! { <Skeleton/> }.into_any(),
            Code::Here => page.open_now().unwrap_or_else(missing),
            Code::Missing => missing(),
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
