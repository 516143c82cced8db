//! Server functions of the submit form.

use api::operation::{Draft, OperationReview, SourceChoices, SubmitChoices};
use leptos::prelude::*;
use leptos::server;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// What the form offers, and its initial values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitForm {
    pub choices: SubmitChoices,
    pub draft: Draft,
    /// For the cluster and the ConfigMap of `draft`.
    pub sources: SourceChoices,
}

/// The form with the values of the operation `again`, or empty. `cluster` and `source` replace those of the operation. With `failed`
/// the form is limited to the hosts that failed or are left in that operation.
#[server(prefix = "/api", endpoint = "load_submit_form", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_submit_form(
    #[server(default)] again: String,
    #[server(default)] failed: bool,
    #[server(default)] cluster: String,
    #[server(default)] source: String,
) -> Result<SubmitForm, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let choices = backend.operations.choices(&user).await?;
    let mut draft = match again.parse() {
        Ok(again) => {
            let mut draft = backend.operations.again(&user, &again).await?;
            if failed {
                draft.set("limit", failed_hosts(&backend.runs.recaps(&user, &again).await?));
            }
            draft
        }
        Err(_) => Draft::default(),
    };
    for (field, value) in [("cluster", cluster), ("source", source)].into_iter().filter(|(_, value)| !value.is_empty())
    {
        draft.set(field, value);
    }
    if let [only] = choices.clusters.as_slice()
        && draft.get("cluster").is_empty()
    {
        draft.set("cluster", only.name.as_str());
    }
    let sources = backend.operations.sources(&user, draft.get("cluster"), draft.get("source")).await?;
    Ok(SubmitForm { choices, draft, sources })
}

/// The hosts that failed, were unreachable or are left in any of these recaps, as a limit.
#[cfg(feature = "ssr")]
fn failed_hosts(recaps: &[std::collections::BTreeMap<String, api::run::HostStats>]) -> String {
    let hosts = recaps.iter().flatten().filter(|(_, stats)| stats.is_open());
    let names: std::collections::BTreeSet<&str> = hosts.map(|(host, _)| host.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(",")
}

/// The ConfigMaps for `cluster`, and the keys of `source`.
#[server(prefix = "/api", endpoint = "load_sources", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_sources(
    #[server(default)] cluster: String,
    #[server(default)] source: String,
) -> Result<SourceChoices, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.operations.sources(&user, &cluster, &source).await?)
}

/// Runs all checks of a submission and returns what it would create. Creates nothing.
#[server(prefix = "/api", endpoint = "review_operation", output = crate::json::Json)]
pub async fn review_operation(#[server(flatten)] draft: Draft) -> Result<OperationReview, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let request = api::operation::NewOperation { expected_inputs: None, made_name: None, ..draft.request()? };
    Ok(backend.operations.review(&user, &request).await.map_err(|problem| draft.located(problem))?)
}

/// Creates the reviewed operation and redirects to its page.
#[server(prefix = "/api", endpoint = "submit_operation", output = crate::json::Json)]
pub async fn submit_operation(#[server(flatten)] draft: Draft) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    draft.unchanged_since_review()?;
    let submitted = backend.operations.submit(&user, &draft.request()?).await;
    let name = submitted.map_err(|problem| draft.located(problem))?;
    crate::redirect::to(&crate::routes::operation(&name));
    Ok(())
}
