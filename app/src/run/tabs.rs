//! The parts of the run page. The open one is in the URL.

use leptos::{ev::MouseEvent, prelude::*};

use super::state::{Run, is_plain, replace_url};
use crate::{
    routes,
    ui::{Icon, icon},
};

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Log,
    Hosts,
    Results,
    Inputs,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Log, Self::Hosts, Self::Results, Self::Inputs];

    /// From the parameter `tab`; anything else is the log.
    pub(super) fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|tab| tab.key() == text).unwrap_or(Self::Log)
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Log => "",
            Self::Hosts => "hosts",
            Self::Results => "results",
            Self::Inputs => "inputs",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Log => "Log",
            Self::Hosts => "Hosts",
            Self::Results => "Results",
            Self::Inputs => "Inputs",
        }
    }
}

/// Links to the parts, and what can be done with the log.
#[component]
pub(super) fn RunTabs(run: Run) -> impl IntoView {
    let tab = run.tab;
    let has_results = Memo::new(move |_| run.progress.with(|progress| !progress.outcomes.is_empty()));
    let link = move |of: Tab| {
        let open = move |event: MouseEvent| {
            if is_plain(&event) {
                event.prevent_default();
                tab.set(of);
                replace_url(&run.url(of));
            }
        };
        view! {
            <a href=run.url(of) on:click=open aria-current=move || (tab.get() == of).then_some("true")>
                {of.word()}
            </a>
        }
    };
    view! {
        <div class="toolbar">
            <nav class="seg" aria-label="Parts of the run">
                {link(Tab::Log)} {link(Tab::Hosts)}
                {move || (has_results.get() || tab.get() == Tab::Results).then(|| link(Tab::Results))}
                {link(Tab::Inputs)}
            </nav>
            <a class="btn small" rel="external" download="" href=run.name.with_value(|name| routes::operation_log(name))>
                {icon(Icon::Download)} "Download"
            </a>
        </div>
    }
}
