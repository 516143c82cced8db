//! Links to older and newer lines, for reading without JavaScript. The style sheet hides them once the log scrolls by itself, so the
//! code in the browser doesn't contain them: hydration ignores the content of an element that is empty in the browser's code.

use leptos::prelude::*;

use super::super::state::Run;

/// The link to the lines before those on this page, and a sentence if the line that was asked for doesn't exist.
#[component]
pub(super) fn OlderLines(run: Run) -> impl IntoView {
    #[cfg(feature = "ssr")]
    let view = view! { <div class="log-pages">{on_server::older(run)}</div> };
    #[cfg(not(feature = "ssr"))]
    let view = empty(run);
    view
}

/// The links to the lines after those on this page.
#[component]
pub(super) fn NewerLines(run: Run) -> impl IntoView {
    #[cfg(feature = "ssr")]
    let view = view! { <div class="log-pages">{on_server::newer(run)}</div> };
    #[cfg(not(feature = "ssr"))]
    let view = empty(run);
    view
}

#[cfg(not(feature = "ssr"))]
fn empty(_: Run) -> impl IntoView {
    view! { <div class="log-pages"></div> }
}

#[cfg(feature = "ssr")]
mod on_server {
    use leptos::prelude::*;

    use super::super::super::functions::LINES_IN_PAGE;
    use super::super::super::state::Run;
    use crate::routes;
    use crate::words::{count, thousands};

    /// The URL of the lines from `from` on. It keeps the text to find, but no host: with one, `from` is a place in its list.
    fn lines_from(run: Run, from: u64) -> String {
        let path = run.name.with_value(|name| routes::operation(name));
        run.query.with_untracked(|query| routes::with_query(&path, &[("from", &from.to_string()), ("q", &query.text)]))
    }

    pub(super) fn older(run: Run) -> impl IntoView {
        let (first, _) = run.rendered;
        let (asked, total) = (run.asked, run.total.get_untracked());
        let before = first.saturating_sub(u64::from(LINES_IN_PAGE)).max(1);
        let missing = (asked > total).then(|| {
            let words =
                format!("There is no line {}: the log has {}. ", thousands(asked), count(total, "line", "lines"));
            view! { <span role="alert">{words}</span> }
        });
        let link = (first > 1).then(|| {
            view! {
                <a class="link" href=format!("{}#L{}", lines_from(run, before), first - 1)>
                    {format!("Lines {}–{}", thousands(before), thousands(first - 1))}
                </a>
            }
        });
        view! { {missing} {link} }
    }

    pub(super) fn newer(run: Run) -> impl IntoView {
        let (_, end) = run.rendered;
        let total = run.total.get_untracked();
        (end <= total).then(|| {
            // Without `from`, a page with a text to find begins at its first hit.
            let newest = if run.query.with_untracked(|query| query.text.is_empty()) {
                run.name.with_value(|name| routes::operation(name))
            } else {
                lines_from(run, total.saturating_sub(u64::from(LINES_IN_PAGE) - 1).max(1))
            };
            view! {
                <a class="link" href=format!("{}#L{end}", lines_from(run, end))>
                    {format!("Lines from {}", thousands(end))}
                </a>
                " "
                <a class="link" href=newest>"Newest lines"</a>
            }
        })
    }
}
