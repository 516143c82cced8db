//! Server functions that plan and start an upgrade.

use api::cluster::{ReviewedUpgrade, Upgrade};
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::functions::parse_name,
    crate::{redirect, routes, session},
    api::cluster::UpgradeWish,
};

/// Versions, plan and progress.
#[server(prefix = "/api", endpoint = "load_upgrade", input = GetUrl, output = crate::json::Json)]
pub async fn load_upgrade(cluster: String, to: String, from: String) -> Result<Upgrade, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.upgrades.plan(&user, &cluster, &UpgradeWish { to, from }).await?)
}

/// Saves the address that is requested while operations run.
#[server(prefix = "/api", endpoint = "set_probe", output = crate::json::Json)]
pub async fn set_probe(cluster: String, url: String) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    backend.upgrades.set_probe(&user, &cluster, &url).await?;
    redirect::to(&routes::with_query(&routes::cluster_tab(&cluster, "upgrade"), &[("saved", "probe")]));
    Ok(())
}

/// Saves the version, submits the operation, and shows its progress.
#[server(prefix = "/api", endpoint = "start_upgrade", output = crate::json::Json)]
pub async fn start_upgrade(cluster: String, #[server(flatten)] reviewed: ReviewedUpgrade) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let name = backend.upgrades.start(&user, &cluster, &reviewed).await?;
    // The name makes the page load again.
    redirect::to(&routes::with_query(&routes::cluster_tab(&cluster, "upgrade"), &[("run", name.as_str())]));
    Ok(())
}
