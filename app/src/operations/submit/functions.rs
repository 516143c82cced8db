//! What the submit form asks the server.

use api::operation::{OperationReview, SubmitChoices};
use leptos::{prelude::*, server};
use serde::{Deserialize, Serialize};

use super::draft::OperationDraft;
use crate::Failure;

/// What the form offers, and how it is filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitForm {
    pub choices: SubmitChoices,
    pub draft: OperationDraft,
}

/// The form, filled in as the operation `again` was, or empty.
#[server(prefix = "/api", endpoint = "load_submit_form", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_submit_form(#[server(default)] again: String) -> Result<SubmitForm, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let choices = backend.operations.choices(&user).await?;
    let draft = match again.parse() {
        Ok(again) => OperationDraft::again(&backend.operations.get(&user, &again).await?, &choices.actions),
        Err(_) => OperationDraft::default(),
    };
    Ok(SubmitForm { choices, draft })
}

/// Everything that submitting would check and create, without creating.
#[server(prefix = "/api", endpoint = "review_operation", output = crate::json::Json)]
pub async fn review_operation(#[server(flatten)] draft: OperationDraft) -> Result<OperationReview, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    draft.complete()?;
    let new =
        api::operation::NewOperation { expected_inputs: String::new(), made_name: String::new(), ..draft.operation() };
    Ok(backend.operations.review(&user, &new).await.map_err(|problem| draft.located(problem))?)
}

/// Creates the operation that was reviewed and leads to its page.
#[server(prefix = "/api", endpoint = "submit_operation", output = crate::json::Json)]
pub async fn submit_operation(#[server(flatten)] draft: OperationDraft) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    draft.complete()?;
    draft.unchanged_since_review()?;
    let name = backend.operations.submit(&user, &draft.operation()).await.map_err(|problem| draft.located(problem))?;
    crate::redirect::to(&crate::routes::operation(&name));
    Ok(())
}
