//! Reviewing and registering.

use api::cluster::{NewCluster, RegistrationReview};
use leptos::server;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::configuration::functions::lines,
    crate::{redirect, routes, session},
};

/// Everything that registering would check and write. Changes nothing.
#[server(prefix = "/api", endpoint = "review_cluster", output = crate::json::Json)]
pub async fn review_cluster(
    #[server(flatten)] new: NewCluster,
    #[server(default)] ssh_key_file: String,
) -> Result<RegistrationReview, Failure> {
    let (user, backend) = session::signed_in()?;
    let new = as_typed(new, ssh_key_file);
    Ok(backend.clusters.review(&user, &new).await?)
}

/// Registers, then shows the cluster with what to do next.
#[server(prefix = "/api", endpoint = "register_cluster", output = crate::json::Json)]
pub async fn register_cluster(
    #[server(flatten)] new: NewCluster,
    #[server(default)] ssh_key_file: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let new = as_typed(new, ssh_key_file);
    let registered = backend.clusters.register(&user, &new).await?;
    redirect::to(&routes::with_query(&routes::cluster(&registered.name), &[("registered", "1")]));
    Ok(())
}

/// A chosen file wins over pasted text; lines end as in files; a name has no blanks around it.
#[cfg(feature = "ssr")]
fn as_typed(new: NewCluster, ssh_key_file: String) -> NewCluster {
    let key = if ssh_key_file.trim().is_empty() { new.ssh_key } else { ssh_key_file };
    NewCluster {
        name: new.name.trim().to_owned(),
        namespace: new.namespace.trim().to_owned(),
        ssh_key: lines(key),
        pasted: lines(new.pasted),
        known_hosts: lines(new.known_hosts),
        variables: lines(new.variables),
        ..new
    }
}
