//! The server function that shows how a node is replaced. Its forms call those that add nodes.

use api::cluster::Replacement;
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use {super::super::functions::parse_name, crate::session};

/// How the node is replaced, and how far that is.
#[server(prefix = "/api", endpoint = "load_replacement", input = GetUrl, output = crate::json::Json)]
pub async fn load_replacement(cluster: String, node: String) -> Result<Replacement, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.nodes.replacement(&user, &cluster, &node).await?)
}
