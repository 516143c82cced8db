//! Breadcrumbs, made from the URL alone.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::ui::{Icon, icon};
use crate::words::capitalised;

/// The path from the first level to this page. All but the last are links.
#[component]
pub(super) fn Breadcrumbs() -> impl IntoView {
    let path = use_location().pathname;
    let crumbs = move || {
        let crumbs = crumbs(&path.get());
        let last = crumbs.len().saturating_sub(1);
        crumbs
            .into_iter()
            .enumerate()
            .map(|(at, (word, href))| {
                let link = if at == last {
                    view! { <b aria-current="page">{word}</b> }.into_any()
                } else {
                    view! { <a href=href>{word}</a> }.into_any()
                };
                view! {
                    <li>{(at > 0).then(|| icon(Icon::ChevronRight))} {link}</li>
                }
            })
            .collect_view()
    };
    view! { <nav class="crumbs" aria-label="Breadcrumb"><ol>{crumbs}</ol></nav> }
}

/// Label and URL of each level.
fn crumbs(path: &str) -> Vec<(String, String)> {
    let mut href = String::new();
    let mut crumbs = Vec::new();
    for (depth, segment) in path.split('/').filter(|segment| !segment.is_empty()).enumerate() {
        href = format!("{href}/{segment}");
        crumbs.push((word(depth, segment), href.clone()));
    }
    crumbs
}

/// First-level pages and tabs get a label; the level between them is a name and keeps its spelling.
fn word(depth: usize, segment: &str) -> String {
    if depth == 1 && segment != "_new" {
        return decode(segment);
    }
    match segment {
        "_new" => "New".to_owned(),
        other => capitalised(decode(other)),
    }
}

/// Percent-decodes a segment, because the router returns the path as the browser sent it. Invalid UTF-8 is replaced.
fn decode(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |b: &u8| char::from(*b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if hex(high).is_some() && hex(low).is_some() => {
                bytes.push(hex(high).unwrap_or_default() * 16 + hex(low).unwrap_or_default());
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_spelling_and_tabs_are_capitalised() {
        let words = |path| crumbs(path).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
        assert_eq!(words("/clusters/prod-fra/nodes"), ["Clusters", "prod-fra", "Nodes"]);
        assert_eq!(words("/clusters/_new"), ["Clusters", "New"]);
        assert_eq!(words("/clusters/new"), ["Clusters", "new"]);
        assert_eq!(words("/operations/a%20b%"), ["Operations", "a b%"]);
        assert_eq!(crumbs("/clusters/prod-fra/nodes")[1].1, "/clusters/prod-fra");
    }
}
