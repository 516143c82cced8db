//! Bodies: bytes in, one JSON value out.

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::protobuf;
use crate::failure::Failure;

/// The apiserver's limit; an object can't be larger.
const LIMIT: usize = 3 << 20;

pub(crate) async fn read<B>(body: B) -> Result<Bytes, Failure>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Failure::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {LIMIT}")))
        }
        Err(error) => Err(Failure::bad_request(format!("the body could not be read: {error}"))),
    }
}

/// The media type without parameters, in lower case; empty when there is none.
pub(crate) fn media_type(header: Option<&str>) -> String {
    header.and_then(|header| header.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

/// An object (or options) in JSON or, for built-in kinds, protobuf. Clients turn their users' YAML into JSON.
pub(crate) fn decode(media_type: &str, body: &[u8], protobuf_allowed: bool) -> Result<Value, Failure> {
    match media_type {
        "" | "application/json" => json(body),
        "application/vnd.kubernetes.protobuf" if protobuf_allowed => protobuf::decode(body),
        _ => Err(unsupported(&["application/json", "application/vnd.kubernetes.protobuf"])),
    }
}

pub(crate) fn json(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::bad_request(format!("the body is not JSON: {error}")))
}

pub(crate) fn unsupported(accepted: &[&str]) -> Failure {
    let list = accepted.join(", ");
    let message = format!("the body of the request was in an unknown format - accepted media types include: {list}");
    Failure::new(415, "UnsupportedMediaType", message)
}
