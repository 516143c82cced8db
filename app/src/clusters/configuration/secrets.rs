//! Secret variables: names are shown, values only written.

use api::configuration::SecretVariables;
use leptos::prelude::*;
use leptos::server;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;
use leptos_router::params::ParamsMap;

use super::hints::Hints;
use crate::Failure;
use crate::form::{Field, Form, FormEnd, Select, Submit, endpoint, guard_unsaved};
use crate::ui::{Alert, Fact, Facts, Panel, Tone};
#[cfg(feature = "ssr")]
use {
    super::super::functions::parse_name,
    crate::{redirect, routes, session},
    api::Problem,
    api::configuration::SecretVariableChange,
};

/// The value of `show` in the URL.
pub(super) const SHOWN_AT: &str = "secrets";

/// `step` is `set` or `delete`; `set` takes a value.
#[server(prefix = "/api", endpoint = "change_secret_variable", output = crate::json::Json)]
pub async fn change_secret_variable(
    cluster: String,
    step: String,
    #[server(default)] variable: String,
    #[server(default)] secret_value: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let change = match step.as_str() {
        "set" => SecretVariableChange::Set { name: variable, value: secret_value },
        "delete" => SecretVariableChange::Delete { name: variable },
        _ => {
            let message = "The form names an unknown step. Reload the page and try again.".into();
            return Err(Problem::BadRequest { message }.into());
        }
    };
    let version = backend.configurations.change_secret_variable(&user, &cluster, &change).await?;
    let page = routes::cluster_tab(&cluster, "configuration");
    // The URL differs after each change, so that the page loads the new state.
    redirect::to(&routes::with_query(&page, &[("show", SHOWN_AT), ("secret", &step), ("of", &version)]));
    Ok(())
}

/// What the last step did, according to the URL that it redirected to.
pub(super) fn done(query: &ParamsMap) -> Option<&'static str> {
    Some(match query.get("secret")?.as_str() {
        "set" => "The secret variable is saved. Runs use it from now on.",
        "delete" => "The secret variable was deleted. Runs don't use it any more.",
        _ => return None,
    })
}

/// Empties the form when the page shows the state after a change: the browser keeps the elements, and what was typed in them.
fn forget_typed() {
    let hydrates = Owner::current_shared_context().is_some_and(|shared| shared.during_hydration());
    Effect::new(move |_| {
        for field in ["variable", "secret_value"].into_iter().filter(|_| !hydrates) {
            let found = document().get_element_by_id(&format!("secret-set-{field}"));
            if let Some(input) = found.and_then(|found| found.dyn_into::<web_sys::HtmlInputElement>().ok()) {
                input.set_value("");
            }
        }
    });
}

#[component]
pub(super) fn Secrets(cluster: String, secrets: SecretVariables) -> impl IntoView {
    let SecretVariables { secret, names, hints, changeable, foreign, problem, .. } = secrets;
    forget_typed();
    let typed = RwSignal::new(false);
    guard_unsaved(typed.into());
    let can_delete = changeable && !names.is_empty();
    let choose = (String::new(), "Choose…".to_owned());
    let options = std::iter::once(choose).chain(names.iter().map(|name| (name.clone(), name.clone()))).collect();
    let to_delete = cluster.clone();
    view! {
        {problem.map(|problem| view! { <div role="alert"><Alert tone=Tone::Err title=problem/></div> })}
        {foreign
            .then(|| {
                view! {
                    <Alert
                        tone=Tone::Warn
                        title="The Secret was not created by the console. You can change it here, but the owner of the Secret may overwrite it."
                    />
                }
            })}
        <Hints hints/>
        <Panel title="Secret variables">
            <Facts>
                <Fact label="Stored in">
                    {match secret {
                        Some(secret) => view! { "Secret " <span class="mono">{secret}</span> ". Values are never shown, and masked in logs." }.into_any(),
                        None => "Nothing yet. The first variable creates a Secret.".into_any(),
                    }}
                </Fact>
                <Fact label="Variables">
                    {if names.is_empty() {
                        view! { <span class="muted">{if changeable { "None" } else { "Not known" }}</span> }.into_any()
                    } else {
                        let row = |name: String| view! { <li class="mono">{name}</li> };
                        view! { <ul class="plain">{names.into_iter().map(row).collect_view()}</ul> }.into_any()
                    }}
                </Fact>
            </Facts>
        </Panel>
        {changeable
            .then(|| {
                view! {
        <Panel title="Set a secret variable">
            <Form id="secret-set" functions={vec![endpoint::<ChangeSecretVariable>()]} only=("step", "set") class="pad stack form-width">
                <input type="hidden" name="cluster" value=cluster/>
                <p class="muted">
                    "For passwords and tokens that runs need, such as ansible_become_password, the password of sudo. A secret variable overrides a variable of the same name. To change a value, set it again."
                </p>
                <div class="stack" on:input=move |_| typed.set(true)>
                    <Field name="variable" label="Name" mono=true placeholder="ansible_become_password"/>
                    <Field name="secret_value" label="Value" kind="password" autocomplete="new-password" mono=true
                        hint="One line. Ansible reads it as a template, so “{{” has its meaning there."/>
                </div>
                <FormEnd><Submit label="Save the secret variable"/></FormEnd>
            </Form>
        </Panel>
                }
            })}
        {can_delete
            .then(|| {
                view! {
                    <Panel title="Delete a secret variable">
                        <Form id="secret-delete" functions={vec![endpoint::<ChangeSecretVariable>()]} only=("step", "delete") class="pad stack form-width">
                            <input type="hidden" name="cluster" value=to_delete/>
                            <Select name="variable" label="Name" options hint="Its value can't be restored."/>
                            <FormEnd><Submit label="Delete the secret variable" class="btn danger"/></FormEnd>
                        </Form>
                    </Panel>
                }
            })}
    }
}
