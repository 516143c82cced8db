//! A button for the first run on a cluster.

use leptos::prelude::*;
use leptos::server;

use crate::Failure;
use crate::form::{Form, FormEnd, Submit, endpoint};
use crate::ui::Icon;

/// Runs `ping.yml` and redirects to the operation's page. There is no review, because the playbook changes nothing.
#[server(prefix = "/api", endpoint = "run_ping", output = crate::json::Json)]
pub async fn run_ping(cluster: String) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let cluster = cluster.parse().map_err(|error: api::NameError| api::Problem::field("cluster", error))?;
    let request = api::operation::NewOperation::new(cluster, api::operation::Action::builtin("ping.yml"));
    let name = backend.operations.submit(&user, &request).await?;
    crate::redirect::to(&crate::routes::operation(&name));
    Ok(())
}

/// The button that runs `ping.yml`.
#[component]
pub fn FirstRun(
    #[prop(into)] cluster: String,
    /// Id of the form. Must be unique on the page.
    id: &'static str,
    #[prop(default = "btn primary")] class: &'static str,
) -> impl IntoView {
    view! {
        <Form id functions=vec![endpoint::<RunPing>()] only=("place", id)>
            <input type="hidden" name="cluster" value=cluster/>
            <FormEnd>
                <Submit label="Run ping.yml" icon=Icon::Play class/>
            </FormEnd>
        </Form>
    }
}
