//! The shape of the answer, from the Accept header.

use crate::failure::Failure;

/// The shape in which a client wants objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Full,
    /// `PartialObjectMetadata`: only the metadata.
    Partial,
    Table,
    /// `APIGroupDiscoveryList`: aggregated discovery.
    Discovery,
}

/// The shape in which to show objects. Protobuf is answered with JSON, which every client that asks for it can read. For custom
/// resources (`custom`) it is refused, as in the API server.
pub(super) fn accepted(header: Option<&str>, custom: bool) -> Result<Shape, Failure> {
    first(header, custom, |shape| shape != Shape::Discovery)
}

/// The shape of another document: `Full`, or `Discovery` where there is an aggregated form of it.
pub(super) fn document(header: Option<&str>, aggregated: bool) -> Result<Shape, Failure> {
    first(header, false, |shape| shape == Shape::Full || aggregated && shape == Shape::Discovery)
}

/// The shape of the first entry that can be served; 406 if there is none.
fn first(header: Option<&str>, custom: bool, served: impl Fn(Shape) -> bool) -> Result<Shape, Failure> {
    let Some(header) = header.filter(|header| !header.trim().is_empty()) else { return Ok(Shape::Full) };
    let found = header.split(',').filter_map(|entry| one(entry, custom)).find(|shape| served(*shape));
    found.ok_or_else(|| {
        Failure::new(406, "NotAcceptable", "only the following media types are accepted: application/json")
    })
}

fn one(entry: &str, custom: bool) -> Option<Shape> {
    let mut parts = entry.split(';').map(str::trim);
    match parts.next()?.to_ascii_lowercase().as_str() {
        "application/json" | "*/*" | "application/*" => {}
        "application/vnd.kubernetes.protobuf" if !custom => {}
        _ => return None,
    }
    let (mut form, mut group, mut version) = ("", "", "");
    for part in parts {
        match part.split_once('=')? {
            ("as", value) => form = value,
            ("g", value) => group = value,
            ("v", value) => version = value,
            // Such as `stream=watch`, `q` and `charset`.
            _ => {}
        }
    }
    Some(match (form, group, version) {
        ("", _, _) => Shape::Full,
        ("Table", "meta.k8s.io", "v1") => Shape::Table,
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => Shape::Partial,
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => Shape::Discovery,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_supported_entry_wins() {
        let table = "application/json;as=Table;v=v9;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(accepted(Some(table), true).unwrap(), Shape::Table);
        let protobuf = "application/vnd.kubernetes.protobuf, application/json";
        assert_eq!(accepted(Some(protobuf), true).unwrap(), Shape::Full);
        assert!(accepted(Some("text/plain"), false).is_err());
        assert!(accepted(Some("application/vnd.kubernetes.protobuf"), true).is_err());
        assert!(accepted(Some("application/json;as=Table;v=v9;g=meta.k8s.io"), true).is_err());
    }
}
