//! Builds every URL of the console. Pages never write a path by hand.

use std::fmt::Write as _;

use api::cluster::ClusterFilter;
use api::operation::OperationFilter;

/// The start page of signed-in users.
pub const HOME: &str = "/clusters";
pub const LOGIN: &str = "/login";
pub const LOGOUT: &str = "/logout";
pub const CLUSTERS: &str = "/clusters";
// `_` can't be in the name of an object, so these pages hide no cluster and no operation.
pub const NEW_CLUSTER: &str = "/clusters/_new";
pub const OPERATIONS: &str = "/operations";
pub const NEW_OPERATION: &str = "/operations/_new";
pub const SETTINGS: &str = "/settings";

/// The URL of the current page from the router's path and `search`, which comes without the `?`.
#[must_use]
pub fn here(path: &str, search: &str) -> String {
    match search.trim_start_matches('?') {
        "" => path.to_owned(),
        search => format!("{path}?{search}"),
    }
}

/// The clusters list with this filter. Default values are left out.
#[must_use]
pub fn clusters(filter: &ClusterFilter) -> String {
    with_query(
        CLUSTERS,
        &[
            ("q", &filter.q),
            ("show", &filter.show.to_string()),
            ("sort", &filter.sort.to_string()),
            ("page", &page(filter.page)),
        ],
    )
}

/// A cluster's overview.
#[must_use]
pub fn cluster(name: impl AsRef<str>) -> String {
    format!("{CLUSTERS}/{}", encode(name.as_ref()))
}

/// One of a cluster's pages: `nodes`, `nodes/add`, `nodes/remove`, `nodes/replace`, `create`, `operations`, `configuration`, `upgrade`, `unregister`.
#[must_use]
pub fn cluster_tab(name: impl AsRef<str>, tab: &str) -> String {
    format!("{}/{tab}", cluster(name))
}

/// The operations list with this filter. Default values are left out.
#[must_use]
pub fn operations(filter: &OperationFilter) -> String {
    operations_at(OPERATIONS, filter)
}

/// The same list at another path, as on a cluster's tab.
#[must_use]
pub fn operations_at(path: &str, filter: &OperationFilter) -> String {
    with_query(
        path,
        &[
            ("q", &filter.q),
            ("cluster", &filter.cluster),
            ("phase", &filter.phase.to_string()),
            ("sort", &filter.sort.to_string()),
            ("page", &page(filter.page)),
        ],
    )
}

/// The page of a run.
#[must_use]
pub fn operation(name: impl AsRef<str>) -> String {
    format!("{OPERATIONS}/{}", encode(name.as_ref()))
}

/// The download of a run's complete log.
#[must_use]
pub fn operation_log(name: impl AsRef<str>) -> String {
    format!("{}/log.txt", operation(name))
}

/// Where the download of a kubeconfig is posted to.
#[must_use]
pub fn kubeconfig(cluster: &str) -> String {
    cluster_tab(cluster, "kubeconfig")
}

/// The form that submits an operation. Empty arguments are not preselected.
#[must_use]
pub fn new_operation(cluster: &str, action: &str) -> String {
    with_query(NEW_OPERATION, &[("cluster", cluster), ("action", action)])
}

/// The form that restores etcd with the playbook `action` from `snapshot`, a file on the first control plane.
#[must_use]
pub fn restore_etcd(cluster: &str, action: &str, snapshot: &str) -> String {
    with_query(NEW_OPERATION, &[("cluster", cluster), ("action", action), ("snapshot", snapshot)])
}

/// The sign-in page, which leads to `next` afterwards.
#[must_use]
pub fn login(next: &str) -> String {
    with_query(LOGIN, &[("next", next)])
}

/// Starts a sign-in at the OIDC provider, which leads to `next` afterwards.
#[must_use]
pub fn sign_in_at_provider(next: &str) -> String {
    with_query("/login/oidc", &[("next", next)])
}

/// A path with a query of all pairs whose value isn't empty.
#[must_use]
pub fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut url = path.to_owned();
    let mut mark = '?';
    for (key, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(url, "{mark}{key}={}", encode(value));
        mark = '&';
    }
    url
}

fn page(number: u32) -> String {
    if number > 1 { number.to_string() } else { String::new() }
}

/// Percent-encodes all but the unreserved characters of RFC 3986, section 2.3.
#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_at_its_defaults_is_the_bare_path() {
        assert_eq!(clusters(&ClusterFilter::default()), "/clusters");
        assert_eq!(clusters(&ClusterFilter { page: 1, ..Default::default() }), "/clusters");
    }

    #[test]
    fn a_value_can_not_break_out_of_its_parameter() {
        let filter = ClusterFilter { q: "a&sort=x#y z/ä".into(), sort: "-name".into(), page: 2, ..Default::default() };
        assert_eq!(clusters(&filter), "/clusters?q=a%26sort%3Dx%23y%20z%2F%C3%A4&sort=-name&page=2");
    }

    #[test]
    fn a_hostile_name_stays_one_segment() {
        assert_eq!(cluster("../x?y"), "/clusters/..%2Fx%3Fy");
    }
}
