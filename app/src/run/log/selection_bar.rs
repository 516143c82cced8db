//! The lines that the URL names: in full, however long they are, and with buttons to copy them.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::super::address::replace_url;
use super::super::state::Run;
use super::super::tab::Tab;
use super::ansi;
use crate::click::is_plain;
use crate::ui::{Copy, Icon, icon, optional};
use crate::words::thousands;

/// Shows at most 1,000 lines of the selection. A piece of the page.
#[component]
pub fn SelectionBar() -> impl IntoView {
    let run = expect_context::<Run>();
    let text = Memo::new(move |_| {
        let lines = run.selection.get()?;
        run.lines_added.track();
        let last = lines.last().min(lines.first() + 999);
        let text = run.log.with_value(|log| {
            let text = (lines.first()..=last).filter_map(|line| log.get(line)).map(|line| ansi::plain(&line.s));
            text.collect::<Vec<_>>().join("\n")
        });
        Some((lines, text))
    });
    let clear = move |event: MouseEvent| {
        if is_plain(&event) {
            event.prevent_default();
            run.selection.set(None);
            replace_url(&run.url(run.tab.get_untracked()));
        }
    };
    optional(move || {
        text.get().map(|(lines, text)| {
            let words = if lines.first() == lines.last() {
                format!("Line {}", thousands(lines.first()))
            } else {
                format!("Lines {}–{}", thousands(lines.first()), thousands(lines.last()))
            };
            view! {
                <div class="selection" role="region" aria-label="Selected lines">
                    <div class="bar">
                        <b>{words}</b>
                        <span class="end">
                            <Copy text=text.clone() label="Copy text"/>
                            <Copy text=absolute(&format!("{}{}", run.url(Tab::Log), lines.fragment())) label="Copy link"/>
                            <a class="btn small" href=run.url(Tab::Log) on:click=clear>{icon(Icon::Close)} "Clear"</a>
                        </span>
                    </div>
                    <pre tabindex="0">{text}</pre>
                </div>
            }
        })
    })
}

/// The path with the origin of this site. Only the browser knows the origin, and only the browser shows a selection.
fn absolute(path: &str) -> String {
    format!("{}{path}", window().location().origin().unwrap_or_default())
}
