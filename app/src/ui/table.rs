//! The controls around a table: filter box, segments, sortable headers, pages. They are links and a GET form, so the URL
//! holds all state and nothing needs JavaScript.

use api::sort::{Column, Sort};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::{Icon, dynamic, icon};
use crate::routes;

/// The filter box. `/` focuses it.
#[component]
pub fn Filter(
    /// The list's path.
    #[prop(into)]
    action: String,
    /// The text in the URL.
    #[prop(into)]
    q: Signal<String>,
    /// The other parameters of the URL, which the filter keeps.
    #[prop(into)]
    keep: Signal<Vec<(&'static str, String)>>,
    #[prop(into)] label: String,
) -> impl IntoView {
    let navigate = use_navigate();
    let path = action.clone();
    // The last text that this box put into the URL. When the URL changes to it, the person may have typed more already, so
    // the box keeps its text.
    let asked = StoredValue::new(q.get_untracked());
    let go = Callback::new(move |q: String| {
        asked.set_value(q.clone());
        let keep = keep.get_untracked();
        let mut pairs = vec![("q", q.as_str())];
        pairs.extend(keep.iter().map(|(key, value)| (*key, value.as_str())));
        navigate(
            &routes::with_query(&path, &pairs),
            NavigateOptions { replace: true, scroll: false, ..Default::default() },
        );
    });
    let input = NodeRef::<leptos::html::Input>::new();
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let later = move |text: String| {
        pending.with_value(|handle| handle.iter().for_each(TimeoutHandle::clear));
        let handle = set_timeout(move || go.run(text), std::time::Duration::from_millis(150));
        pending.set_value(handle.ok());
    };
    Effect::new(move |_| {
        let q = q.get();
        if asked.with_value(|asked| *asked != q)
            && let Some(input) = input.get_untracked()
        {
            input.set_value(&q);
            asked.set_value(q);
        }
    });
    on_cleanup(move || {
        pending.try_with_value(|handle| handle.iter().for_each(TimeoutHandle::clear));
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        pending.with_value(|handle| handle.iter().for_each(TimeoutHandle::clear));
        if let Some(input) = input.get_untracked() {
            go.run(input.value());
        }
    };
    view! {
        <form class="search" role="search" method="get" action=action on:submit=submit>
            {icon(Icon::Search)}
            <input
                node_ref=input
                type="search"
                name="q"
                value=q.get_untracked()
                placeholder=label.clone()
                aria-label=label
                aria-keyshortcuts="/"
                data-filter="true"
                autocomplete="off"
                spellcheck="false"
                on:input:target=move |event| later(event.target().value())
            />
            {dynamic(move || {
                keep.get()
                    .into_iter()
                    .filter(|(_, value)| !value.is_empty())
                    .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
                    .collect_view()
            })}
        </form>
    }
}

/// One of several views of a list.
#[derive(Debug, Clone)]
pub struct Segment {
    pub word: String,
    pub href: String,
    pub current: bool,
}

/// Links to several views of a list. The current one is marked.
#[component]
pub fn Segments(#[prop(into)] label: String, #[prop(into)] segments: Signal<Vec<Segment>>) -> impl IntoView {
    view! {
        <nav class="seg" aria-label=label>
            {dynamic(move || {
                segments
                    .get()
                    .into_iter()
                    .map(|s| view! { <a href=s.href aria-current=s.current.then_some("true")>{s.word}</a> })
                    .collect_view()
            })}
        </nav>
    }
}

/// The heading of a column that can be sorted. A second click reverses the order.
#[component]
pub fn SortHeader<C, L>(
    word: &'static str,
    column: C,
    /// The current order of the list.
    sort: Sort<C>,
    /// The list's URL with another order.
    link: L,
    /// Whether its natural order is descending: the largest or the newest first.
    #[prop(optional)]
    falls: bool,
    #[prop(optional)] class: &'static str,
) -> impl IntoView
where
    C: Column,
    L: Fn(Sort<C>) -> String,
{
    let (next, state) = next_sort(sort, column, falls);
    let arrow = match state {
        "ascending" => Some(icon(Icon::ArrowUp)),
        "descending" => Some(icon(Icon::ArrowDown)),
        _ => None,
    };
    view! {
        <th scope="col" class=class aria-sort=state>
            <a class="sort" href=link(next)>{word} {arrow}</a>
        </th>
    }
}

/// The order after a click on `column`, and the current `aria-sort` of the column.
fn next_sort<C: Column>(current: Sort<C>, column: C, falls: bool) -> (Sort<C>, &'static str) {
    let (natural, reversed) = (Sort { column, reversed: false }, Sort { column, reversed: true });
    let (own, turned) = if falls { ("descending", "ascending") } else { ("ascending", "descending") };
    if current == natural {
        (reversed, own)
    } else if current == reversed {
        (natural, turned)
    } else {
        (natural, "none")
    }
}

/// Links to the pages of a list. Renders nothing if there is only one page.
#[component]
pub fn Pages<L>(
    page: u32,
    pages: u32,
    /// The number of items: `12 clusters`.
    #[prop(into)]
    of: String,
    /// The list's URL at another page.
    link: L,
) -> impl IntoView
where
    L: Fn(u32) -> String,
{
    (pages > 1).then(|| {
        let step = |to: u32, word: &'static str, possible: bool| {
            if possible {
                view! { <a class="btn small" href=link(to)>{word}</a> }.into_any()
            } else {
                view! { <span class="btn small" aria-disabled="true">{word}</span> }.into_any()
            }
        };
        view! {
            <nav class="pages" aria-label="Pages">
                {step(page.saturating_sub(1), "Previous", page > 1)}
                <span class="muted">{format!("Page {page} of {pages} · {of}")}</span>
                {step(page + 1, "Next", page < pages)}
            </nav>
        }
    })
}

#[cfg(test)]
mod tests {
    use api::cluster::ClusterColumn;

    use super::*;

    fn clicked(current: &str, column: ClusterColumn, falls: bool) -> (String, &'static str) {
        let (next, state) = next_sort(current.into(), column, falls);
        (next.to_string(), state)
    }

    #[test]
    fn a_second_click_on_a_header_reverses_the_order() {
        assert_eq!(clicked("health", ClusterColumn::Name, false), ("name".into(), "none"));
        assert_eq!(clicked("name", ClusterColumn::Name, false), ("-name".into(), "ascending"));
        assert_eq!(clicked("-name", ClusterColumn::Name, false), ("name".into(), "descending"));
    }

    #[test]
    fn a_descending_column_reports_it() {
        assert_eq!(clicked("nodes", ClusterColumn::Nodes, true), ("-nodes".into(), "descending"));
        assert_eq!(clicked("-nodes", ClusterColumn::Nodes, true), ("nodes".into(), "ascending"));
    }
}
