//! Server functions that load the data of the cluster pages.

use api::cluster::{ClusterDetail, ClusterFilter, ClusterList, NodeList};
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use crate::session;

#[server(prefix = "/api", endpoint = "load_clusters", input = GetUrl, output = crate::json::Json)]
pub async fn load_clusters(filter: ClusterFilter) -> Result<ClusterList, Failure> {
    let (user, backend) = session::signed_in()?;
    Ok(backend.clusters.list(&user, &filter).await?)
}

#[server(prefix = "/api", endpoint = "load_cluster", input = GetUrl, output = crate::json::Json)]
pub async fn load_cluster(cluster: String) -> Result<ClusterDetail, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.clusters.get(&user, &cluster).await?)
}

#[server(prefix = "/api", endpoint = "load_nodes", input = GetUrl, output = crate::json::Json)]
pub async fn load_nodes(cluster: String) -> Result<NodeList, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.clusters.nodes(&user, &cluster).await?)
}

/// Parses the name in a URL. An invalid name is reported as not found.
#[cfg(feature = "ssr")]
pub(super) fn parse_name(name: &str) -> Result<api::ClusterName, api::Problem> {
    let short = || name.chars().take(80).collect();
    name.parse().map_err(|_| api::Problem::NotFound { what: "cluster".into(), name: short() })
}
