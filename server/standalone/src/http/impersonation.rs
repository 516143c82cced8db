//! Headers with which a client asks to act as another user, such as those of `kubectl --as`.

use http::HeaderMap;

use crate::failure::Failure;

/// What all these headers start with.
const PREFIX: &str = "impersonate-";
/// The API group of what can be impersonated besides users and groups.
const GROUP: &str = "authentication.k8s.io";

/// The refusal of a request that asks to act as another user, in the API server's words. `None` if it doesn't ask.
///
/// Answering with the rights of `user` would show what the other user couldn't see in a cluster.
pub(super) fn refusal(headers: &HeaderMap, user: &str) -> Option<Failure> {
    let (header, resource, group) = headers.keys().filter_map(|name| asked(name.as_str())).max()?;
    let value = headers.get(header).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let plural = resource.split('/').next().unwrap_or_default();
    let full = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let message = format!(
        "{full} \"{value}\" is forbidden: User \"{user}\" cannot impersonate resource \"{resource}\" in API group \"{group}\" at the cluster scope: this API has only one user and no impersonation"
    );
    Some(Failure::forbidden(message).about(value, group, plural))
}

/// The header, the resource that it impersonates, and the group of that. Sorted, the user is last.
fn asked(header: &str) -> Option<(&str, String, &'static str)> {
    Some(match header.strip_prefix(PREFIX)? {
        "user" => (header, "users".into(), ""),
        "group" => (header, "groups".into(), ""),
        "uid" => (header, "uids".into(), GROUP),
        other => (header, format!("userextras/{}", other.strip_prefix("extra-").unwrap_or(other)), GROUP),
    })
}
