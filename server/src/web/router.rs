//! Every address of the console, its handler, and the layers before it.

use std::any::Any;
use std::sync::Arc;

use api::Problem;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{Redirect, Response};
use axum::routing::{MethodRouter, any, get, post};
use futures::FutureExt;
use http::{HeaderMap, Method, Uri, header};

use super::guard::{headers, same_origin, signed_in};
use super::problem::{as_json, as_text};
use super::{Web, compression, download, forms, health, kubeconfig, live, oidc, sign_in};
use crate::panics::Panicked;

/// The largest body of a server function, in bytes: a form of the largest size, percent-encoded.
const FUNCTION_LIMIT: usize = 3 * forms::body::LIMIT + 64 * 1024;

/// The routes that aren't pages of `app`, with their handlers.
fn other_routes() -> [(&'static str, MethodRouter<Arc<Web>>); 13] {
    [
        ("/", get(|| async { Redirect::to("/clusters") })),
        ("/healthz", get(health::healthz)),
        ("/readyz", get(health::readyz)),
        ("/assets/{*file}", get(asset)),
        ("/favicon.svg", get(asset)),
        ("/login", get(sign_in::show).post(sign_in::sign_in)),
        (oidc::START, get(oidc::start)),
        (oidc::CALLBACK, get(oidc::callback)),
        ("/logout", post(sign_in::sign_out)),
        ("/live", any(live::upgrade)),
        ("/operations/{name}/log.txt", get(download::log)),
        ("/clusters/{name}/kubeconfig", post(kubeconfig::download)),
        ("/api/{*function}", any(call)),
    ]
}

/// The service.
pub fn router(web: Arc<Web>) -> Router {
    let origin = Arc::new(web.origin.clone());
    let mut router = Router::new();
    for address in web.pages.addresses.iter().filter(|address| other_routes().iter().all(|(own, _)| own != address)) {
        router = router.route(address, get(render).post(forms::post));
    }
    for (address, handler) in other_routes() {
        router = router.route(address, handler);
    }
    router
        .fallback(not_found)
        // Percent-encoding triples the size of non-Latin text. `forms` and `call` check the limit that people see.
        .layer(DefaultBodyLimit::max(FUNCTION_LIMIT))
        .layer(middleware::from_fn_with_state(web.clone(), signed_in::layer))
        .layer(middleware::from_fn_with_state(origin.clone(), same_origin::layer))
        .layer(middleware::from_fn_with_state(origin, headers::layer))
        .layer(compression::layer())
        .layer(middleware::from_fn(logged))
        .with_state(web)
}

async fn asset(State(web): State<Arc<Web>>, uri: Uri, headers: HeaderMap) -> Response {
    web.site.serve(uri.path(), &headers)
}

async fn render(State(web): State<Arc<Web>>, request: Request) -> Response {
    (web.pages.render)(request).await
}

async fn call(State(web): State<Arc<Web>>, request: Request) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > FUNCTION_LIMIT) {
        return as_json(&Problem::TooLarge { limit: "2 MiB".into() });
    }
    (web.pages.call)(request).await
}

/// The pages' own 404.
async fn not_found(State(web): State<Arc<Web>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return as_text(&Problem::NotFound { what: "page".into(), name: request.uri().path().to_owned() });
    }
    let mut response = (web.pages.render)(request).await;
    if response.status().is_success() {
        *response.status_mut() = http::StatusCode::NOT_FOUND;
    }
    response
}

/// Logs one line per request, at debug level, without the query, which may contain a sign-in token. A panic becomes a 500.
async fn logged(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = std::time::Instant::now();
    let answer = std::panic::AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = answer.unwrap_or_else(|panic: Box<dyn Any + Send>| {
        let why = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        tracing::error!(%method, path, why = why.unwrap_or("unknown"), "a request panicked");
        let mut response = as_text(&Problem::Internal);
        response.extensions_mut().insert(Panicked);
        response
    });
    tracing::debug!(%method, path, status = response.status().as_u16(), ms = started.elapsed().as_millis() as u64, "request");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_security_know_every_route() {
        let ours: Vec<_> = other_routes().into_iter().map(|(address, _)| address).collect();
        let known: Vec<_> = include_str!("../../tests/web/routes.txt").lines().collect();
        assert_eq!(ours, known);
    }
}
