//! The list's query string, both ways.

use api::operation::OperationFilter;
use leptos_router::params::ParamsMap;

use crate::routes;
use crate::ui::Segment;

/// The filter that a URL asks for.
pub(super) fn filter_of(query: &ParamsMap) -> OperationFilter {
    let text = |key| query.get_str(key).unwrap_or_default().to_owned();
    OperationFilter {
        q: text("q"),
        cluster: text("cluster"),
        phase: text("phase"),
        sort: text("sort"),
        page: text("page").parse().unwrap_or_default(),
    }
}

/// The phases to choose from; each keeps what was typed and how it is sorted.
pub(super) fn views(path: &str, filter: &OperationFilter) -> Vec<Segment> {
    [
        ("All", ""),
        ("Running", "running"),
        ("Queued", "queued"),
        ("Failed", "failed"),
        ("Succeeded", "succeeded"),
        ("Cancelled", "cancelled"),
    ]
    .into_iter()
    .map(|(word, phase)| Segment {
        word: word.into(),
        href: routes::operations_at(path, &OperationFilter { phase: phase.into(), page: 0, ..filter.clone() }),
        current: filter.phase == phase,
    })
    .collect()
}

/// Whether the filter leaves anything out.
pub(super) fn narrows(filter: &OperationFilter) -> bool {
    !(filter.q.is_empty() && filter.cluster.is_empty() && filter.phase.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_as_it_was_written() {
        let filter = OperationFilter {
            q: "eu".into(),
            cluster: "prod".into(),
            phase: "failed".into(),
            sort: "-action".into(),
            page: 3,
        };
        let query = [("q", "eu"), ("cluster", "prod"), ("phase", "failed"), ("sort", "-action"), ("page", "3")]
            .into_iter()
            .collect();
        assert_eq!(filter_of(&query), filter);
        assert!(
            narrows(&filter) && !narrows(&OperationFilter { sort: "action".into(), page: 2, ..Default::default() })
        );
    }

    #[test]
    fn another_phase_starts_at_its_first_page_and_keeps_the_rest() {
        let filter = OperationFilter { q: "eu".into(), page: 3, ..Default::default() };
        let views = views("/operations", &filter);
        assert_eq!(views[3].href, "/operations?q=eu&phase=failed");
        assert!(views[0].current);
    }
}
