//! Unregistering a cluster. The page lists the consequences first.

use leptos::prelude::*;
use leptos::server;
use leptos_meta::Title;

use super::current::CurrentCluster;
use crate::Failure;
use crate::form::{Check, Field, Form, FormEnd, Submit, endpoint};
use crate::ui::{Alert, Panel, Tone, dynamic};

/// Unregisters the cluster. `records` is `keep` or `delete`.
#[server(prefix = "/api", endpoint = "unregister_cluster", output = crate::json::Json)]
pub async fn unregister_cluster(
    cluster: String,
    #[server(default)] confirm: String,
    #[server(default)] records: String,
) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let cluster = super::functions::parse_name(&cluster)?;
    let how = api::cluster::Unregister { confirm: confirm.trim().to_owned(), delete_records: records == "delete" };
    backend.clusters.unregister(&user, &cluster, &how).await?;
    crate::redirect::to(crate::routes::CLUSTERS);
    Ok(())
}

#[component]
pub fn UnregisterClusterPage() -> impl IntoView {
    let here = expect_context::<CurrentCluster>();
    view! {
        <Panel title="Unregister this cluster" class="narrow">
            <div class="pad stack">
                <Alert tone=Tone::Warn title="What happens">
                    <ul class="list">
                        <li>"The machines are not touched, and their workloads keep running."</li>
                        <li>"The cluster is removed from the console, and no operations can be run on it."</li>
                        <li>"The inventory, variables and SSH key that this console created are deleted. Objects created by others are kept."</li>
                        <li>"A cluster with a running or queued operation can't be unregistered."</li>
                    </ul>
                </Alert>
                {dynamic(move || {
                    let name = here.name.get();
                    view! {
                        // A string, not a closure: the server reads the title when this page's signals may already be disposed.
                        <Title text=format!("Unregister {name}")/>
                        <Form id="unregister" functions={vec![endpoint::<UnregisterCluster>()]} class="stack">
                            <input type="hidden" name="cluster" value=name.clone()/>
                            <fieldset>
                                <legend>"Operations and logs of this cluster"</legend>
                                <Check radio=true name="records" value="keep" label="Keep them" checked=true
                                    hint="You can still read them under Operations."/>
                                <Check radio=true name="records" value="delete" label="Delete them"
                                    hint="They are deleted permanently."/>
                            </fieldset>
                            <Field name="confirm" label=format!("Type “{name}” to confirm") mono=true/>
                            <FormEnd>
                                <Submit label="Unregister" class="btn danger-solid"/>
                                <a class="btn" href=crate::routes::cluster(&name)>"Keep the cluster"</a>
                            </FormEnd>
                        </Form>
                    }
                })}
            </div>
        </Panel>
    }
}
