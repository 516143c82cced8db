//! Reads and writes the query string of the list.

use api::cluster::{ClusterFilter, ClusterView};
use api::input::Input;
use leptos_router::params::ParamsMap;

use crate::routes;
use crate::ui::Segment;

/// The filter in a URL's query.
pub(super) fn filter_of(query: &ParamsMap) -> ClusterFilter {
    let text = |key| query.get_str(key).unwrap_or_default().to_owned();
    ClusterFilter {
        q: text("q"),
        show: text("show").into(),
        sort: text("sort").into(),
        page: text("page").parse().unwrap_or_default(),
    }
}

/// Links to the views of the list. Each keeps the search text and the sort order.
pub(super) fn views(filter: &ClusterFilter) -> Vec<Segment> {
    [("All", ClusterView::All), ("Need attention", ClusterView::Attention), ("Running", ClusterView::Running)]
        .into_iter()
        .map(|(word, view)| {
            let show = Input::Valid(view);
            Segment {
                word: word.into(),
                current: filter.show == show,
                href: routes::clusters(&ClusterFilter { show, page: 0, ..filter.clone() }),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_from_the_url() {
        let filter = ClusterFilter { q: "eu".into(), show: "attention".into(), sort: "-nodes".into(), page: 3 };
        let query = [("q", "eu"), ("show", "attention"), ("sort", "-nodes"), ("page", "3")].into_iter().collect();
        assert_eq!(filter_of(&query), filter);
    }

    #[test]
    fn a_link_to_a_view_keeps_the_filter_and_resets_the_page() {
        let filter = ClusterFilter { q: "eu".into(), page: 3, ..Default::default() };
        assert_eq!(views(&filter)[2].href, "/clusters?q=eu&show=running");
        assert!(views(&filter)[0].current);
    }

    #[test]
    fn an_invalid_page_number_counts_as_the_first_page() {
        assert_eq!(filter_of(&[("page", "-1")].into_iter().collect()).page, 0);
    }
}
