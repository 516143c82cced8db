//! Server functions that remove a node.

use api::cluster::{Removal, ReviewedRemoval};
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::functions::parse_name,
    crate::{redirect, routes, session},
};

/// The next step of removing a node, with its consequences. With `gone`, the machine can't be reached any more.
#[server(prefix = "/api", endpoint = "load_removal", input = GetUrl, output = crate::json::Json)]
pub async fn load_removal(cluster: String, node: String, #[server(default)] gone: bool) -> Result<Removal, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.nodes.removal(&user, &cluster, &node, gone).await?)
}

/// Submits the operation that removes the node from the cluster, and redirects to its run.
#[server(prefix = "/api", endpoint = "remove_node", output = crate::json::Json)]
pub async fn remove_node(
    cluster: String,
    node: String,
    // Not flattened: a flattened field of a form is a text.
    #[server(default)] gone: bool,
    #[server(flatten)] reviewed: ReviewedRemoval,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let reviewed = ReviewedRemoval { gone, ..reviewed };
    let name = backend.nodes.remove(&user, &cluster, &node, &reviewed).await?;
    redirect::to(&routes::operation(&name));
    Ok(())
}

/// Removes the node from the inventory and returns to the nodes.
#[server(prefix = "/api", endpoint = "forget_node", output = crate::json::Json)]
pub async fn forget_node(cluster: String, node: String, #[server(default)] version: String) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    backend.nodes.forget(&user, &cluster, &node, &version).await?;
    redirect::to(&routes::cluster_tab(&cluster, "nodes"));
    Ok(())
}
