//! The server function of the list.

use api::operation::{OperationFilter, OperationList};
use leptos::prelude::*;
use leptos::server;

use crate::Failure;

/// A page of operations.
#[server(prefix = "/api", endpoint = "load_operations", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_operations(filter: OperationFilter) -> Result<OperationList, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.operations.list(&user, &filter).await?)
}
