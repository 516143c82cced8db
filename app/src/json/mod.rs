//! How values travel from the server to the page: as JSON, read by one reader only ([`crate::wasm_size::json_reader`]), so
//! that the wasm contains the code that reads a type once.

pub(crate) mod encoding;

use leptos::prelude::{Resource, SharedValue};
use leptos::server_fn::codec::Post;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::encoding::JsonText;
use crate::Failure;
pub(crate) use crate::wasm_size::json_reader::read;

/// A resource of a page. The server loads it while it renders; the browser reads what the server put into the page.
pub(crate) type Data<T> = Resource<Result<T, Failure>, JsonText>;

/// A [`Data`] that calls `load` with `source`, again whenever `source` changes.
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

/// A value that the server computes when it renders the app and the browser reads from the page. If the page does not hold
/// it, the browser calls `of_request`, too.
pub(crate) fn shared<T>(of_request: impl FnOnce() -> T) -> T
where
    T: Serialize + DeserializeOwned,
{
    SharedValue::<T, JsonText>::new_with_encoding(of_request).into_inner()
}

/// The `output` of all server functions.
pub(crate) type Json = Post<JsonText>;
