//! What the answer looks like: Accept and its parameters.

use crate::failure::Failure;

/// In which shape objects are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Full,
    /// `PartialObjectMetadata`: metadata only.
    Partial,
    Table,
    /// `APIGroupDiscoveryList`: everything in one document.
    Discovery,
}

/// The first entry that can be served. Protobuf is answered with JSON, which every client that asks for it also reads,
/// but for custom resources (`custom`) it is refused as by the apiserver.
pub(crate) fn accepted(header: Option<&str>, custom: bool) -> Result<Shape, Failure> {
    let Some(header) = header.filter(|header| !header.trim().is_empty()) else { return Ok(Shape::Full) };
    let found = header.split(',').find_map(|entry| one(entry, custom));
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
            // A watch may ask for `stream=watch`; q and charset change nothing.
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
    fn the_first_entry_that_is_known_wins() {
        let table = "application/json;as=Table;v=v9;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(accepted(Some(table), true).unwrap(), Shape::Table);
        let protobuf = "application/vnd.kubernetes.protobuf, application/json";
        assert_eq!(accepted(Some(protobuf), true).unwrap(), Shape::Full);
        assert!(accepted(Some("text/plain"), false).is_err());
        assert!(accepted(Some("application/vnd.kubernetes.protobuf"), true).is_err());
        assert!(accepted(Some("application/json;as=Table;v=v9;g=meta.k8s.io"), true).is_err());
    }
}
