//! Reads and writes the query string of the list.

use api::input::Input;
use api::operation::{OperationFilter, Phase};
use leptos_router::params::ParamsMap;

use crate::routes;
use crate::ui::Segment;

/// The filter in a URL's query.
pub(super) fn filter_of(query: &ParamsMap) -> OperationFilter {
    let text = |key| query.get_str(key).unwrap_or_default().to_owned();
    OperationFilter {
        q: text("q"),
        cluster: text("cluster"),
        phase: text("phase").into(),
        sort: text("sort").into(),
        page: text("page").parse().unwrap_or_default(),
    }
}

/// Links to the phases. Each keeps the search text and the sort order.
pub(super) fn views(path: &str, filter: &OperationFilter) -> Vec<Segment> {
    let phases = [None].into_iter().chain(Phase::ALL.map(Some));
    phases
        .map(|of| {
            let phase = Input::Valid(of);
            Segment {
                word: of.map_or("All", Phase::word).into(),
                current: filter.phase == phase,
                href: routes::operations_at(path, &OperationFilter { phase, page: 0, ..filter.clone() }),
            }
        })
        .collect()
}

/// Whether the filter hides some operations.
pub(super) fn narrows(filter: &OperationFilter) -> bool {
    !(filter.q.is_empty() && filter.cluster.is_empty() && filter.phase.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_from_the_url() {
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
    fn a_link_to_a_phase_keeps_the_filter_and_resets_the_page() {
        let filter = OperationFilter { q: "eu".into(), page: 3, ..Default::default() };
        let views = views("/operations", &filter);
        assert_eq!(views[3].href, "/operations?q=eu&phase=failed");
        assert!(views[0].current);
    }
}
