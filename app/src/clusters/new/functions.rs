//! Server functions that review and register a new cluster.

use api::cluster::{NewCluster, RegistrationReview};
use leptos::server;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::configuration::functions::{at_its_field, lines},
    crate::{redirect, routes, session},
};

/// Runs all checks and returns the files that registering would write. Writes nothing.
#[server(prefix = "/api", endpoint = "review_cluster", output = crate::json::Json)]
pub async fn review_cluster(
    #[server(flatten)] new: NewCluster,
    #[server(default)] ssh_key_file: String,
) -> Result<RegistrationReview, Failure> {
    let (user, backend) = session::signed_in()?;
    let (new, uploaded) = as_typed(new, ssh_key_file);
    Ok(backend.clusters.review(&user, &new).await.map_err(|problem| at_its_field(problem, uploaded))?)
}

/// Registers the cluster and redirects to the page that shows the first steps, or that creates it.
#[server(prefix = "/api", endpoint = "register_cluster", output = crate::json::Json)]
pub async fn register_cluster(
    #[server(flatten)] new: NewCluster,
    #[server(default)] ssh_key_file: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let (new, uploaded) = as_typed(new, ssh_key_file);
    let is_new = new.purpose.value() == Ok(&api::cluster::Purpose::Create);
    let name = backend.clusters.register(&user, &new).await.map_err(|problem| at_its_field(problem, uploaded))?;
    let page = if is_new { routes::cluster_tab(&name, "create") } else { routes::cluster(&name) };
    redirect::to(&routes::with_query(&page, &[("registered", "1")]));
    Ok(())
}

/// Turns line ends into LF. An uploaded key replaces a pasted one; the second value
/// tells whether a key was uploaded.
#[cfg(feature = "ssr")]
fn as_typed(new: NewCluster, ssh_key_file: String) -> (NewCluster, bool) {
    let uploaded = !ssh_key_file.trim().is_empty();
    let key = if uploaded { ssh_key_file } else { new.ssh_key };
    let new = NewCluster {
        ssh_key: lines(key),
        pasted: lines(new.pasted),
        known_hosts: lines(new.known_hosts),
        variables: lines(new.variables),
        ..new
    };
    (new, uploaded)
}
