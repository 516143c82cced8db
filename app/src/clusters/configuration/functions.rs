//! Server functions that read, review and save a cluster's inputs.

use api::configuration::{ChangeReview, Configuration, HostKeyScan};
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::functions::parse_name,
    crate::{redirect, routes, session},
    api::{Problem, configuration::Document},
};

#[server(prefix = "/api", endpoint = "load_configuration", input = GetUrl, output = crate::json::Json)]
pub async fn load_configuration(cluster: String) -> Result<Configuration, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.configurations.read(&user, &cluster).await?)
}

/// Shows what saving `text` would change. Saves nothing.
#[server(prefix = "/api", endpoint = "review_change", output = crate::json::Json)]
pub async fn review_change(
    cluster: String,
    document: String,
    version: String,
    #[server(default)] text: String,
) -> Result<ChangeReview, Failure> {
    let (user, backend) = session::signed_in()?;
    let (cluster, document) = (parse_name(&cluster)?, parse(&document)?);
    Ok(backend.configurations.review(&user, &cluster, document, &version, &lines(text)).await?)
}

/// Scans the machines' host keys and returns them with `text` updated to match. Saves nothing.
#[server(prefix = "/api", endpoint = "scan_host_keys", output = crate::json::Json)]
pub async fn scan_host_keys(
    cluster: String,
    version: String,
    #[server(default)] text: String,
) -> Result<HostKeyScan, Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    Ok(backend.configurations.scan_host_keys(&user, &cluster, &version, &lines(text)).await?)
}

/// Saves `text` if the document is still at `version`; otherwise the result is a conflict.
#[server(prefix = "/api", endpoint = "save_change", output = crate::json::Json)]
pub async fn save_change(
    cluster: String,
    document: String,
    version: String,
    #[server(default)] text: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let (cluster, document) = (parse_name(&cluster)?, parse(&document)?);
    let saved = backend.configurations.save(&user, &cluster, document, &version, &lines(text)).await?;
    let page = routes::cluster_tab(&cluster, "configuration");
    redirect::to(&routes::with_query(&page, &[("show", document.shown_at()), ("saved", &saved)]));
    Ok(())
}

/// Does nothing. Without JavaScript, submitting it returns from the review to the form with the typed values.
#[server(prefix = "/api", endpoint = "keep_editing", output = crate::json::Json)]
pub async fn keep_editing() -> Result<(), Failure> {
    session::signed_in()?;
    Ok(())
}

#[cfg(feature = "ssr")]
fn parse(document: &str) -> Result<Document, Problem> {
    Document::parse(document).ok_or_else(|| Problem::BadRequest {
        message: "The form names an unknown document. Reload the page and try again.".into(),
    })
}

/// Browsers send the lines of a textarea with CR LF (HTML, "constructing the entry list"); files have LF.
#[cfg(feature = "ssr")]
pub(in super::super) fn lines(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Moves a problem with an uploaded key from the paste field to the file field.
#[cfg(feature = "ssr")]
pub(in super::super) fn at_its_field(mut problem: Problem, uploaded: bool) -> Problem {
    if let (true, Problem::Invalid { fields, .. }) = (uploaded, &mut problem) {
        for wrong in fields.iter_mut().filter(|wrong| wrong.field == "ssh_key") {
            wrong.field = "ssh_key_file".into();
        }
    }
    problem
}
