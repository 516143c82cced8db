//! The pages of `app`, rendered with what the layers found out about the request.

use std::sync::{Arc, LazyLock};

use api::{Backend, Problem};
use app::{Assets, FormAnswer, FormReturn, login};
use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use http::{Extensions, StatusCode, request::Parts};
use leptos::{
    nonce::Nonce,
    prelude::{provide_context, use_context},
};

use crate::{
    assets::{Manifest, Site},
    forms::{Answered, Held, Refused},
    guard::as_json,
    router::{Handler, Pages},
    session::{
        Session,
        page::{SignInMode, SignInPage},
    },
};

/// The addresses of all pages. Made once and before anything renders: while leptos lists routes it loads no resources, in
/// the whole process, and a page that renders meanwhile would wait for ever.
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
            tracing::error!(%error, "there are no pages to show");
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

/// Runs a server function; an address that none has is a problem like others.
async fn call(context: impl Fn() + Clone + Send + 'static, request: Request) -> Response {
    let (path, method) = (request.uri().path(), request.method());
    if !server_fn::axum::server_fn_paths().any(|(known, by)| known == path && by == *method) {
        return as_json(&Problem::NotFound { what: "function".into(), name: path.to_owned() });
    }
    leptos_axum::handle_server_fns_with_context(context, request).await.into_response()
}

/// What pages and functions find in their context.
fn provide(backend: &Backend, assets: &Assets) {
    provide_context(backend.clone());
    provide_context(assets.clone());
    if let Some(parts) = use_context::<Parts>() {
        provide_request(&parts.extensions);
    }
}

fn provide_request(request: &Extensions) {
    provide_context(app::session::Session(request.get::<Session>().map(|session| session.user.clone())));
    if let Some(nonce) = request.get::<Nonce>() {
        provide_context(nonce.clone());
    }
    if let Some(SignInPage { mode, problem, next }) = request.get().cloned() {
        let mode = match mode {
            SignInMode::Link { valid } => login::LoginMode::Link { valid },
            SignInMode::Token => login::LoginMode::Token,
        };
        provide_context(login::LoginPage { mode, problem, next });
    }
    if let Some(Held { action, fields }) = request.get().cloned() {
        provide_context(login::HeldForm { action, fields });
    }
    if let Some(Refused { form, values, problem }) = request.get().cloned() {
        provide_context(FormReturn { form, values, problem });
    }
    if let Some(Answered { form, values, json }) = request.get().cloned() {
        provide_context(FormAnswer { form, values, answer_json: json });
    }
}
