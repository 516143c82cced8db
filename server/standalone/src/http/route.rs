//! The meaning of a path.

use crate::failure::Failure;
use crate::kind::{Kinds, REVIEWS, Review};
use crate::request::Target;

pub(super) enum Route {
    Version,
    Health,
    /// `/api` (core) or `/apis`.
    Groups {
        core: bool,
    },
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1`, and `/apis/GROUP/VERSION`.
    Resources {
        group: String,
        version: String,
    },
    /// The document of older clients.
    OpenApiV2,
    OpenApiIndex,
    OpenApi {
        group: String,
        version: String,
    },
    Review(&'static Review),
    Objects(Target),
    /// A path that isn't served. The answer is 404 in plain text.
    Nothing,
}

pub(super) fn route(path: &str, kinds: &Kinds) -> Result<Route, Failure> {
    let mut segments = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        segments.push(decode(segment)?);
    }
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let owned = |group: &str, version: &str| (group.to_owned(), version.to_owned());
    match segments.as_slice() {
        ["version"] => Ok(Route::Version),
        ["healthz" | "livez" | "readyz", ..] => Ok(Route::Health),
        ["api"] => Ok(Route::Groups { core: true }),
        ["apis"] => Ok(Route::Groups { core: false }),
        ["openapi", "v2"] => Ok(Route::OpenApiV2),
        ["openapi", "v3"] => Ok(Route::OpenApiIndex),
        ["openapi", "v3", "api", version] => Ok(Route::OpenApi { group: String::new(), version: (*version).into() }),
        ["openapi", "v3", "apis", group, version] => {
            let (group, version) = owned(group, version);
            Ok(Route::OpenApi { group, version })
        }
        ["apis", group] => Ok(Route::Group((*group).into())),
        ["api", version @ "v1"] => Ok(Route::Resources { group: String::new(), version: (*version).into() }),
        ["apis", group, version] => {
            let (group, version) = owned(group, version);
            Ok(Route::Resources { group, version })
        }
        ["api", "v1", rest @ ..] => objects("", "v1", rest, kinds)?.ok_or_else(Failure::no_resource),
        ["apis", group, version, rest @ ..] => Ok(objects(group, version, rest, kinds)?.unwrap_or(Route::Nothing)),
        _ => Ok(Route::Nothing),
    }
}

/// Percent-decodes one segment.
fn decode(segment: &str) -> Result<String, Failure> {
    // For the form decoder, `+`, `=` and `&` have a meaning that they don't have in a path.
    let text = segment.replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
    let decoded = form_urlencoded::parse(text.as_bytes()).next().map(|(name, _)| name.into_owned());
    decoded.filter(|text| !text.contains('\u{fffd}')).ok_or_else(|| Failure::bad_request("the path is not UTF-8"))
}

fn objects(group: &str, version: &str, rest: &[&str], kinds: &Kinds) -> Result<Option<Route>, Failure> {
    let target = |plural: &str, namespace: Option<&str>, name: Option<&&str>, subresource: Option<&&str>| {
        let kind = kinds.find(group, version, plural)?.clone();
        // An object of a namespaced kind needs a namespace; cluster-scoped kinds must not have one.
        let fits = if kind.namespaced { namespace.is_some() || name.is_none() } else { namespace.is_none() };
        let own = |part: &&str| (*part).to_owned();
        fits.then(|| Target {
            kind,
            namespace: namespace.map(str::to_owned),
            name: name.map(own),
            subresource: subresource.map(own),
        })
    };
    if let ["namespaces", _, review] | [review] = rest
        && let Some(review) = REVIEWS.iter().find(|known| known.group == group && known.plural == *review)
        && version == "v1"
    {
        return Ok(Some(Route::Review(review)));
    }
    let found = match rest {
        ["namespaces", name, sub @ ("status" | "finalize")] => target("namespaces", None, Some(name), Some(sub)),
        ["namespaces", namespace, plural, more @ ..] if more.len() <= 2 => {
            target(plural, Some(namespace), more.first(), more.get(1))
        }
        [plural, more @ ..] if more.len() <= 2 => target(plural, None, more.first(), more.get(1)),
        _ => None,
    };
    let Some(found) = found else { return Ok(None) };
    let known =
        found.subresource.as_deref().is_none_or(|sub| found.kind.subresources().iter().any(|(known, _)| *known == sub));
    match &found.name {
        _ if known => Ok(Some(Route::Objects(found))),
        // The API server looks up the subresources of a custom kind like its objects. There are none of a kind without objects.
        Some(name) if found.kind.built_in().is_none() => Err(Failure::not_found(&found.kind, name)),
        _ => Err(Failure::no_subresource(&found.kind, found.subresource.as_deref().unwrap_or_default())),
    }
}
