//! Server functions of the submit form.

use api::operation::{Draft, OperationReview, SubmitChoices};
use leptos::prelude::*;
use leptos::server;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// What the form offers, and its initial values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitForm {
    pub choices: SubmitChoices,
    pub draft: Draft,
}

/// The form with the values of the operation `again`, or empty.
#[server(prefix = "/api", endpoint = "load_submit_form", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_submit_form(#[server(default)] again: String) -> Result<SubmitForm, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let choices = backend.operations.choices(&user).await?;
    let draft = match again.parse() {
        Ok(again) => backend.operations.again(&user, &again).await?,
        Err(_) => Draft::default(),
    };
    Ok(SubmitForm { choices, draft })
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
