//! The encoding: plain serde_json on the server, our own reader in the browser.

use std::str::Utf8Error;

use leptos::server::codee::{Decoder, Encoder};
use leptos::server_fn::{ContentType, Decodes, Encodes, Format, FormatType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use server_fn::Bytes;

use crate::wasm_size::json_reader::read;

/// The encoding of answers and errors.
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

/// Why an answer can't be read.
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
        Ok(read(std::str::from_utf8(&bytes)?)?)
    }
}

impl<T: Serialize + DeserializeOwned> Encoder<T> for JsonText {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        let text = serde_json::to_string(value)?;
        if cfg!(debug_assertions)
            && let Err(error) = read::<T>(&text)
        {
            panic!("the browser could not read {}: {error}", std::any::type_name::<T>());
        }
        Ok(text)
    }
}

impl<T: DeserializeOwned> Decoder<T> for JsonText {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Self::Error> {
        read(text)
    }
}
