//! The parts of the run page. The open one is in the URL.

use leptos::{ev::MouseEvent, prelude::*};

use super::state::{Run, is_plain, replace_url};
use crate::{
    chunks::Page,
    routes,
    ui::{Icon, icon, optional},
};

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Log,
    Hosts,
    Results,
    Inputs,
}

impl Tab {
    pub(super) const ALL: [Self; 4] = [Self::Log, Self::Hosts, Self::Results, Self::Inputs];

    /// The one that a query names as `tab`; anything else is the log. The text is taken as it stands: who loads the code of a
    /// part and who shows it must not differ over an address.
    pub(crate) fn of(search: &str) -> Self {
        let named = search.trim_start_matches('?').split('&').find_map(|pair| pair.strip_prefix("tab="));
        Self::ALL.into_iter().find(|tab| Some(tab.key()) == named).unwrap_or(Self::Log)
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Log => "",
            Self::Hosts => "hosts",
            Self::Results => "results",
            Self::Inputs => "inputs",
        }
    }

    /// What is shown in it, where that is not the page's own.
    pub(crate) fn page(self) -> Option<Page> {
        match self {
            Self::Log => None,
            Self::Hosts => Some(Page::RunHosts),
            Self::Results => Some(Page::RunOutcomes),
            Self::Inputs => Some(Page::RunInputs),
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
                {optional(move || (has_results.get() || tab.get() == Tab::Results).then(|| link(Tab::Results)))}
                {link(Tab::Inputs)}
            </nav>
            <a class="btn small" rel="external" download="" href=run.name.with_value(|name| routes::operation_log(name))>
                {icon(Icon::Download)} "Download"
            </a>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_in_an_address_counts_as_it_stands() {
        let of = |search| Tab::of(search);
        assert_eq!((of(""), of("?tab=hosts"), of("from=7&tab=inputs")), (Tab::Log, Tab::Hosts, Tab::Inputs));
        assert_eq!((of("tab=log&tab=hosts"), of("tab=%68osts"), of("tab=")), (Tab::Log, Tab::Log, Tab::Log));
    }
}
