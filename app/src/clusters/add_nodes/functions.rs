//! Server functions that review and add nodes.

use api::cluster::{NewNodes, NodesReview};
use leptos::server;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::{configuration::functions::lines, functions::parse_name},
    crate::{redirect, routes, session},
};

/// Runs all checks, asks the machines for their host keys, and returns what adding them will do. Changes nothing.
#[server(prefix = "/api", endpoint = "review_nodes", output = crate::json::Json)]
pub async fn review_nodes(
    cluster: String,
    // Not flattened: a flattened field of a form is a text.
    #[server(default)] gone: bool,
    #[server(flatten)] new: NewNodes,
) -> Result<NodesReview, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.nodes.review(&user, &cluster, &as_typed(new, gone)).await?)
}

/// Saves the inventory with the new machines, submits the operation that adds them, and redirects to its run.
#[server(prefix = "/api", endpoint = "add_nodes", output = crate::json::Json)]
pub async fn add_nodes(
    cluster: String,
    #[server(default)] gone: bool,
    #[server(flatten)] new: NewNodes,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let name = backend.nodes.add(&user, &cluster, &as_typed(new, gone)).await?;
    redirect::to(&routes::operation(&name));
    Ok(())
}

/// Turns line ends into LF.
#[cfg(feature = "ssr")]
fn as_typed(new: NewNodes, gone: bool) -> NewNodes {
    NewNodes { pasted: lines(new.pasted), host_keys: lines(new.host_keys), gone, ..new }
}
