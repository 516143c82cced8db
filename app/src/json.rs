//! How answers travel: JSON, read from text.
//!
//! What leptos puts into a page for hydration is read from text, too. `server_fn`'s own JSON reads bytes: with it, the code
//! that reads each type would be in the wasm twice.

use std::str::Utf8Error;

use leptos::server_fn::{ContentType, Decodes, Encodes, Format, FormatType, codec::Post};
use serde::{Serialize, de::DeserializeOwned};
use server_fn::Bytes;

/// The `output` of all server functions.
pub(crate) type Json = Post<JsonText>;

/// The encoding itself, for answers and refusals.
pub struct JsonText;

impl ContentType for JsonText {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for JsonText {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for JsonText {
    type Error = serde_json::Error;

    fn encode(output: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_vec(output).map(Bytes::from)
    }
}

/// Why an answer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error(transparent)]
    Text(#[from] Utf8Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl<T: DeserializeOwned> Decodes<T> for JsonText {
    type Error = Unreadable;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        Ok(serde_json::from_str(std::str::from_utf8(&bytes)?)?)
    }
}
