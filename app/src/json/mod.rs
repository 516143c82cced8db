//! How everything travels from the server to the page: JSON, read in one way only ([`reader`]), so that the code that reads
//! a type is in the wasm once, and small.

mod reader;

use std::str::Utf8Error;

use leptos::{
    prelude::{Resource, SharedValue},
    server::codee::{Decoder, Encoder},
    server_fn::{ContentType, Decodes, Encodes, Format, FormatType, codec::Post},
};
use serde::{Serialize, de::DeserializeOwned};
use server_fn::Bytes;

use crate::Failure;
pub(crate) use reader::read;

/// What a page loads: on the server while it is rendered, in the browser from what the server put into the page.
pub(crate) type Data<T> = Resource<Result<T, Failure>, JsonText>;

/// [`Data`] that `load` gets for `source`, again whenever that changes.
pub(crate) fn data<S, T, F>(
    source: impl Fn() -> S + Send + Sync + 'static,
    load: impl Fn(S) -> F + Send + Sync + 'static,
) -> Data<T>
where
    S: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<T, Failure>> + Send + 'static,
{
    Resource::new_with_options(source, load, false)
}

/// What the server knows when it renders the app, and the browser from the page; should the page not hold it, the browser calls `of_request`, too.
pub(crate) fn shared<T>(of_request: impl FnOnce() -> T) -> T
where
    T: Serialize + DeserializeOwned,
{
    SharedValue::<T, JsonText>::new_with_encoding(of_request).into_inner()
}

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
