//! Request bodies: bytes in, one JSON value out.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::protobuf;
use crate::failure::Failure;
use crate::limits::{REQUEST, too_large};

/// How much of a body that is too large is read and thrown away, in bytes. Otherwise the connection is closed while the client still
/// sends, and the client sees a broken pipe instead of the answer.
const DISCARDED: usize = 64 << 20;

pub(super) async fn read(mut body: Body) -> Result<Bytes, Failure> {
    match Limited::new(&mut body, REQUEST).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let mut rest = Limited::new(body, DISCARDED);
            while let Some(Ok(_)) = rest.frame().await {}
            Err(too_large(format_args!("limit is {REQUEST}")))
        }
        Err(error) => Err(Failure::bad_request(format!("the body could not be read: {error}"))),
    }
}

/// The media type without parameters, in lower case. Empty if there is none.
pub(super) fn media_type(header: Option<&str>) -> String {
    header.and_then(|header| header.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

/// How deep a body in YAML may be nested: as deep as JSON.
const DEPTH: usize = 128;

/// An object or options, in JSON, YAML or, for built-in kinds, protobuf.
pub(super) fn decode(media_type: &str, body: &[u8], protobuf_allowed: bool) -> Result<Value, Failure> {
    match media_type {
        "" | "application/json" => json(body),
        "application/yaml" => yaml(body),
        "application/vnd.kubernetes.protobuf" if protobuf_allowed => protobuf::decode(body),
        _ => Err(Failure::unsupported_media_type(&[
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ])),
    }
}

/// One document. Values are read as YAML 1.1, as the API server does; keys stay texts. The reader limits what aliases expand to.
pub(super) fn yaml(body: &[u8]) -> Result<Value, Failure> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: DEPTH },
        legacy_octal_numbers: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    };
    // Many files end with the start of another document, which is empty.
    let whole = body.trim_ascii_end().strip_suffix(b"---").filter(|before| before.ends_with(b"\n")).unwrap_or(body);
    serde_saphyr::from_slice_with_options(whole, options).map_err(|error| {
        Failure::bad_request(match error {
            serde_saphyr::Error::MultipleDocuments { .. } => {
                "the body has several YAML documents, and a request takes one".to_owned()
            }
            error => format!("the body is not YAML: {error}"),
        })
    })
}

pub(super) fn json(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::bad_request(format!("the body is not JSON: {error}")))
}
