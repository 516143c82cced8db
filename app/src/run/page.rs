//! The page of one run.

use api::operation::Phase;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_params_map, use_query_map};
use leptos_router::params::ParamsMap;

use super::functions::{RunOpening, load_run};
use super::head::title::Head;
use super::log::panel::LogPanel;
use super::pieces::RunPiece;
use super::results::tab_bar::TabBar;
use super::state::Run;
use super::summary::totals::Totals;
use super::tab::Tab;
use crate::json::data;
use crate::ui::{Loaded, PageTitle, all, when_known};
use crate::wasm_size::piece::Piece;

/// One run. The URL names it.
#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let name = Memo::new(move |_| params.read().get("name").unwrap_or_default());
    // Without JavaScript, older lines are on separate pages. `from` names the first line of the page, `line` one that it must show.
    let asked = Memo::new(move |_| {
        let query = query.read();
        let text = |key| query.get(key).unwrap_or_default();
        (number(&query, "from"), number(&query, "line"), text("q"), text("host"))
    });
    let opening =
        data(move || (name.get(), asked.get()), |(name, (from, line, q, host))| load_run(name, from, line, q, host));
    // A page that can't show its run still has a title.
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

/// A line number in the query; 0 if there is none.
fn number(query: &ParamsMap, key: &str) -> u64 {
    query.get(key).and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// What a browser without JavaScript does with the page: it reloads, or stays for a user who reads it or answers its question. It is set as
/// HTML, because a browser with JavaScript reads the content as text, which hydration would not find.
fn reloading(tab: Tab, stays: bool) -> String {
    let tab = tab.key();
    if stays {
        format!(
            r#"<p class="muted">This page doesn't change until you load it again. <a class="link" href="?tab={tab}">Reload every 10 seconds</a></p>"#
        )
    } else {
        format!(
            r#"<meta http-equiv="refresh" content="10"><p class="muted">Without JavaScript, this page reloads every 10 seconds. <a class="link" href="?tab={tab}&amp;reload=no">Stop reloading</a></p>"#
        )
    }
}

#[component]
fn RunView(opening: RunOpening) -> impl IntoView {
    let tab = Tab::of(&use_location().search.get_untracked());
    // A run that has ended keeps what the server rendered.
    let has_watch = opening.has_watch;
    let run = Run::open(opening, tab, number(&use_query_map().get_untracked(), "line"));
    run.go_live();
    run.follow_links();
    // The components of pieces take no props.
    provide_context(run);
    let has_failed = Signal::derive(move || run.phase.get() == Phase::Failed);
    let may_change = Signal::derive(move || run.may_change());
    let is_watched = Signal::derive(move || has_watch || run.phase.get() == Phase::Running);
    let stays = use_query_map().with_untracked(|query| query.get_str("reload") == Some("no"));
    let reloads =
        untrack(|| run.may_change()).then(|| view! { <noscript inner_html=reloading(tab, stays)></noscript> });
    view! {
        <Head run/>
        {reloads}
        <Piece piece=RunPiece::Reason rendered=has_failed.get_untracked() shown=has_failed active=may_change/>
        <Totals run/>
        <Piece piece=RunPiece::Watch rendered=has_watch shown=is_watched active=may_change/>
        <section class="panel run-panel" aria-label="Run">
            <TabBar run/>
            <div hidden=move || run.tab.get() != Tab::Log>
                <LogPanel run/>
            </div>
            {all(Tab::ALL.into_iter().filter_map(|tab| Some(view! { <TabContent run tab piece=RunPiece::of(tab)?/> })))}
        </section>
    }
}

/// The content of a tab. Its code is loaded when the tab is first opened, and stays.
#[component]
fn TabContent(run: Run, tab: Tab, piece: RunPiece) -> impl IntoView {
    let is_open = Signal::derive(move || run.tab.get() == tab);
    // The inputs have buttons that copy them, which need JavaScript.
    let active = Signal::derive(move || tab == Tab::Inputs || run.may_change());
    view! {
        <div hidden=move || !is_open.get()>
            <Piece piece rendered=is_open.get_untracked() shown=is_open active/>
        </div>
    }
}
