//! Connects the pages of `app` to the web server: renders them and runs their server functions.

use std::sync::{Arc, LazyLock};

use api::{Backend, Problem};
use app::login::{HeldForm, LoginPage};
use app::{Assets, FormAnswer, FormReturn};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use http::request::Parts;
use http::{Extensions, StatusCode};
use leptos::nonce::Nonce;
use leptos::prelude::{provide_context, use_context};

use super::assets::{Manifest, Site};
use super::problem::as_json;
use super::{Handler, Pages};
use crate::audit::Caller;
use crate::session::Session;

/// The routes of all pages, listed once and before any page renders. While leptos lists routes, it loads no resources in the
/// whole process, so a page that renders at the same time would never finish.
static ADDRESSES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let _ = any_spawner::Executor::init_tokio();
    let listing = leptos_axum::generate_route_list(app::App);
    listing.into_iter().map(|route| route.path().to_owned()).collect()
});

/// The console's pages over `backend`.
pub fn console(backend: Backend, site: &Site) -> Pages {
    let addresses = ADDRESSES.clone();
    let render: Handler = match site.manifest() {
        Ok(Manifest { css, js, wasm, pages }) => {
            let (backend, assets) = (backend.clone(), Assets { css, js, wasm, pages });
            let context = {
                let assets = assets.clone();
                move || provide(&backend, &assets)
            };
            Arc::new(leptos_axum::render_app_async_with_context(context, move || app::shell(&assets)))
        }
        Err(error) => {
            tracing::error!(%error, "there are no pages to serve");
            let text = error.to_string();
            Arc::new(move |_| {
                std::future::ready((StatusCode::SERVICE_UNAVAILABLE, text.clone()).into_response()).boxed()
            })
        }
    };
    let call: Handler = Arc::new(move |request| {
        let backend = backend.clone();
        call(move || provide(&backend, &Assets::default()), request).boxed()
    });
    Pages { addresses, render, call }
}

/// Runs the server function at the request's address. An unknown address is answered with a [`Problem`], as other errors are.
async fn call(context: impl Fn() + Clone + Send + 'static, request: Request) -> Response {
    let (path, method) = (request.uri().path(), request.method());
    if !server_fn::axum::server_fn_paths().any(|(known, by)| known == path && by == *method) {
        return as_json(&Problem::NotFound { what: "function".into(), name: path.to_owned() });
    }
    leptos_axum::handle_server_fns_with_context(context, request).await.into_response()
}

/// Fills the context of pages and server functions.
fn provide(backend: &Backend, assets: &Assets) {
    provide_context(assets.clone());
    let request = use_context::<Parts>();
    let caller = request.as_ref().and_then(|parts| parts.extensions.get::<Caller>());
    provide_context(caller.map_or_else(|| backend.clone(), |caller| caller.backend(backend)));
    if let Some(parts) = request {
        provide_request(&parts.extensions);
    }
}

fn provide_request(request: &Extensions) {
    provide_context(app::session::Session(request.get::<Session>().map(|session| session.user.clone())));
    provide_from::<Nonce>(request);
    provide_from::<LoginPage>(request);
    provide_from::<HeldForm>(request);
    provide_from::<FormReturn>(request);
    provide_from::<FormAnswer>(request);
}

/// Provides what a handler put into the request's extensions for the page.
fn provide_from<T: Clone + Send + Sync + 'static>(request: &Extensions) {
    if let Some(value) = request.get::<T>() {
        provide_context(value.clone());
    }
}
