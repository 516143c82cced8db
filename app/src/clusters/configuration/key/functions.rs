//! The server function that carries out a step of replacing the private key.

use leptos::server;

use crate::Failure;
#[cfg(feature = "ssr")]
use {
    super::super::super::functions::parse_name,
    super::super::functions::{at_its_field, lines},
    crate::{redirect, routes, session},
    api::Problem,
    api::configuration::{Document, KeyChange, NewKey},
};

/// `step` is `store`, `test`, `use`, `discard`, `back` or `forget`; `key` is the id of the key that the page showed. `store` takes
/// `ssh` (`generate` or `paste`) and the key as text or file.
#[server(prefix = "/api", endpoint = "change_key", output = crate::json::Json)]
pub async fn change_key(
    cluster: String,
    step: String,
    #[server(default)] key: String,
    #[server(default)] ssh: String,
    #[server(default)] ssh_key: String,
    #[server(default)] ssh_key_file: String,
    #[server(default)] untested: String,
) -> Result<(), Failure> {
    let (user, backend) = session::signed_in()?;
    let cluster = parse_name(&cluster)?;
    let uploaded = !ssh_key_file.trim().is_empty();
    let id = key.clone();
    let change = match step.as_str() {
        "store" if ssh == "paste" => {
            KeyChange::Store(NewKey::Given(lines(if uploaded { ssh_key_file } else { ssh_key })))
        }
        "store" => KeyChange::Store(NewKey::Generate),
        "test" => KeyChange::Test { id },
        "use" => KeyChange::Use { id, untested: untested == "yes" },
        "discard" => KeyChange::Discard { id },
        "back" => KeyChange::GoBack { id },
        "forget" => KeyChange::Forget { id },
        _ => {
            let message = "The form names an unknown step. Reload the page and try again.".into();
            return Err(Problem::BadRequest { message }.into());
        }
    };
    let changed = backend.configurations.change_private_key(&user, &cluster, &change).await;
    let test = changed.map_err(|problem| at_its_field(problem, uploaded))?;
    // The URL differs after each step, so that the page loads the new state.
    let of = test.map_or(key, |test| test.to_string());
    let page = routes::cluster_tab(&cluster, "configuration");
    redirect::to(&routes::with_query(&page, &[("show", Document::HostKeys.shown_at()), ("key", &step), ("of", &of)]));
    Ok(())
}
