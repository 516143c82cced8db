//! Server functions that review and register a new cluster.

use api::cluster::{NewCluster, RegistrationReview};
use leptos::server;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::configuration::functions::lines,
    crate::{redirect, routes, session},
    api::Problem,
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

/// Registers the cluster and redirects to its page, which shows the first steps.
#[server(prefix = "/api", endpoint = "register_cluster", output = crate::json::Json)]
pub async fn register_cluster(
    #[server(flatten)] new: NewCluster,
    #[server(default)] ssh_key_file: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let (new, uploaded) = as_typed(new, ssh_key_file);
    let name = backend.clusters.register(&user, &new).await.map_err(|problem| at_its_field(problem, uploaded))?;
    redirect::to(&routes::with_query(&routes::cluster(&name), &[("registered", "1")]));
    Ok(())
}

/// Cleans up the input: line ends become LF, and names are trimmed. An uploaded key replaces a pasted one; the second value
/// tells whether a key was uploaded.
#[cfg(feature = "ssr")]
fn as_typed(new: NewCluster, ssh_key_file: String) -> (NewCluster, bool) {
    let uploaded = !ssh_key_file.trim().is_empty();
    let key = if uploaded { ssh_key_file } else { new.ssh_key };
    let new = NewCluster {
        name: new.name.trim().to_owned(),
        namespace: new.namespace.trim().to_owned(),
        ssh_key: lines(key),
        pasted: lines(new.pasted),
        known_hosts: lines(new.known_hosts),
        variables: lines(new.variables),
        ..new
    };
    (new, uploaded)
}

/// Moves a problem with an uploaded key from the paste field to the file field.
#[cfg(feature = "ssr")]
fn at_its_field(mut problem: Problem, uploaded: bool) -> Problem {
    if let (true, Problem::Invalid { fields, .. }) = (uploaded, &mut problem) {
        for wrong in fields.iter_mut().filter(|wrong| wrong.field == "ssh_key") {
            wrong.field = "ssh_key_file".into();
        }
    }
    problem
}
