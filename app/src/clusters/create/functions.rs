//! Server functions of the page that creates a cluster.

use api::cluster::{Creation, ReviewedPlan, SettingsOffer};
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::functions::parse_name,
    crate::run::cause_of,
    crate::{redirect, routes, session},
    api::cluster::CheckResult,
};

/// The versions and default networks of a new cluster.
#[server(prefix = "/api", endpoint = "load_settings_offer", input = GetUrl, output = crate::json::Json)]
pub async fn load_settings_offer() -> Result<SettingsOffer, Failure> {
    let (_, backend) = session::signed_in()?;
    Ok(backend.creations.offer())
}

/// The steps with their state.
#[server(prefix = "/api", endpoint = "load_creation", input = GetUrl, output = crate::json::Json)]
pub async fn load_creation(cluster: String) -> Result<Creation, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(explained(backend.creations.read(&user, &cluster).await?))
}

/// With the causes that the pages of the runs name. A check says itself what is wrong with a machine that it reached.
#[cfg(feature = "ssr")]
fn explained(mut creation: Creation) -> Creation {
    let checked = creation.check.iter_mut().flat_map(|check| &mut check.hosts);
    let unreachable = checked.filter(|host| host.result == CheckResult::Unreachable);
    let checked = unreachable.map(|host| (&host.message, &mut host.cause));
    let failed = creation.failures.iter_mut().map(|failure| (&failure.message, &mut failure.cause));
    for (message, cause) in checked.chain(failed) {
        cause_of(message).unwrap_or_default().clone_into(cause);
    }
    creation
}

/// Submits the operation that checks the machines, and stays on the page.
#[server(prefix = "/api", endpoint = "check_machines", output = crate::json::Json)]
pub async fn check_machines(cluster: String) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let run = backend.creations.check(&user, &cluster).await?;
    stay(&cluster, "checked", &run);
    Ok(())
}

/// Submits the operation that creates the cluster, and stays on the page.
#[server(prefix = "/api", endpoint = "create_cluster", output = crate::json::Json)]
pub async fn create_cluster(cluster: String, #[server(flatten)] reviewed: ReviewedPlan) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let run = backend.creations.create(&user, &cluster, &reviewed).await?;
    stay(&cluster, "created", &run);
    Ok(())
}

/// The URL names the run, so that it differs after each submission.
#[cfg(feature = "ssr")]
fn stay(cluster: &api::ClusterName, what: &str, run: &api::OperationName) {
    let page = routes::cluster_tab(cluster, "create");
    redirect::to(&routes::with_query(&page, &[(what, run.as_str())]));
}
