//! Links to older and newer lines, for reading without JavaScript. They are hidden once the log scrolls by itself.

use leptos::prelude::*;

use super::super::functions::LINES_IN_PAGE;
use super::super::state::Run;
use crate::routes;
use crate::words::thousands;

/// The link to the lines before those on this page.
#[component]
pub(super) fn OlderLines(run: Run, hydrated: Memo<bool>) -> impl IntoView {
    let (first, _) = run.rendered;
    let path = run.name.with_value(|name| routes::operation(name));
    let before = first.saturating_sub(u64::from(LINES_IN_PAGE)).max(1);
    (first > 1).then(|| {
        view! {
            <div class="log-pages" hidden=move || hydrated.get()>
                <a class="link" href=format!("{path}?from={before}#L{}", first - 1)>
                    {format!("Lines {}–{}", thousands(before), thousands(first - 1))}
                </a>
            </div>
        }
        .into_any()
    })
}

/// The links to the lines after those on this page.
#[component]
pub(super) fn NewerLines(run: Run, hydrated: Memo<bool>) -> impl IntoView {
    let (_, end) = run.rendered;
    let path = run.name.with_value(|name| routes::operation(name));
    (end <= run.total.get_untracked()).then(|| {
        view! {
            <div class="log-pages" hidden=move || hydrated.get()>
                <a class="link" href=format!("{path}?from={end}#L{end}")>{format!("Lines from {}", thousands(end))}</a>
                " "
                <a class="link" href=path>"Newest lines"</a>
            </div>
        }
        .into_any()
    })
}
