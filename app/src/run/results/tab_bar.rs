//! The bar that switches between the tabs.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::super::address::replace_url;
use super::super::log::tools::{FoldSwitch, GoToLine, WrapSwitch};
use super::super::state::Run;
use super::super::tab::Tab;
use crate::click::is_plain;
use crate::routes;
use crate::ui::{Icon, icon, optional};

/// Links to the tabs, and the tools of the log.
#[component]
pub(crate) fn TabBar(run: Run) -> impl IntoView {
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
                {link(Tab::Log)} {link(Tab::Hosts)} {link(Tab::Matrix)}
                {optional(move || (has_results.get() || tab.get() == Tab::Results).then(|| link(Tab::Results)))}
                {link(Tab::Inputs)}
            </nav>
            <div class="log-tools">
                <GoToLine run/>
                <FoldSwitch run/>
                <WrapSwitch/>
                <a class="btn small" rel="external" download="" href=run.name.with_value(|name| routes::operation_log(name))>
                    {icon(Icon::Download)} "Download"
                </a>
            </div>
        </div>
    }
}
