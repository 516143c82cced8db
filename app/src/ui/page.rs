//! The parts of a page: title, panel, tabs, facts.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

/// The heading of a page, which is also the document's title. Its children, the actions, are placed at the end of its line.
#[component]
pub fn PageTitle(
    #[prop(into)] text: String,
    /// Shown beside it in small type: a chip or a count.
    #[prop(optional)]
    aside: Option<AnyView>,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <Title text=text.clone()/>
        <div class="title">
            <h1>{text}</h1>
            {aside}
            {children.map(|children| view! { <div class="end">{children()}</div> }.into_any())}
        </div>
    }
}

/// A surface with a heading.
#[component]
pub fn Panel(
    #[prop(optional, into)] title: String,
    /// Placed at the end of the heading's line.
    #[prop(default = None)]
    end: Option<AnyView>,
    #[prop(optional)] class: &'static str,
    children: Children,
) -> impl IntoView {
    let head = (!title.is_empty()).then(|| {
        view! {
            <header>
                <h2>{title}</h2>
                {end.map(|end| view! { <div class="end">{end}</div> }.into_any())}
            </header>
        }
    });
    view! { <section class=format!("panel {class}")>{head} {children()}</section> }
}

/// A tab: its URL and its label.
#[derive(Debug, Clone)]
pub struct Tab {
    pub href: String,
    pub word: &'static str,
}

/// Links to the pages of one object. The current page is marked.
#[component]
pub fn Tabs(#[prop(into)] label: String, tabs: Vec<Tab>) -> impl IntoView {
    let path = use_location().pathname;
    view! {
        <nav class="tabs" aria-label=label>
            {tabs
                .into_iter()
                .map(|tab| {
                    let href = tab.href.clone();
                    let current = move || (path.get().trim_end_matches('/') == href).then_some("page");
                    view! { <a href=tab.href aria-current=current>{tab.word}</a> }
                })
                .collect_view()}
        </nav>
    }
}

/// Labelled values: children are [`Fact`]s.
#[component]
pub fn Facts(children: Children) -> impl IntoView {
    view! { <dl class="facts">{children()}</dl> }
}

/// One labelled value.
#[component]
pub fn Fact(#[prop(into)] label: String, children: Children) -> impl IntoView {
    view! {
        <dt>{label}</dt>
        <dd>{children()}</dd>
    }
}
