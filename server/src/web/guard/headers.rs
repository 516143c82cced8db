//! The layer that adds security headers to responses, among them the content security policy with this request's nonce.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue, header};
use leptos::nonce::Nonce;

use crate::web::origin::OurOrigin;

/// Only scripts with the nonce run, and the scripts that they load (`strict-dynamic`). Everything else is loaded from this
/// origin. `style=` attributes in HTML are blocked; sizes are set by script, through the CSSOM, which the policy permits.
fn policy(nonce: &Nonce) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self' 'nonce-{nonce}'; \
         img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Makes the nonce and puts it into the request's extensions, where pages find it.
pub(in crate::web) async fn layer(State(origin): State<Arc<OurOrigin>>, mut request: Request, next: Next) -> Response {
    let nonce = Nonce::new();
    request.extensions_mut().insert(nonce.clone());
    let is_asset = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    // Scripts, styles, wasm and data are no documents. For them these headers would be half a kilobyte each without effect.
    let is_data = response.status().is_success() && response.headers().get(header::CONTENT_TYPE).is_some_and(is_json);
    let is_document = !is_asset && !is_data;
    let headers = response.headers_mut();
    let of_documents = [
        (header::X_FRAME_OPTIONS, "DENY"),
        // Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    let of_all = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in of_documents.into_iter().filter(|_| is_document).chain(of_all) {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_document && let Ok(policy) = HeaderValue::try_from(policy(&nonce)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // Everything except assets may contain a person's data.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if matches!(&*origin, OurOrigin::Public(url) if url.https) {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

fn is_json(content_type: &HeaderValue) -> bool {
    content_type.as_bytes().starts_with(b"application/json")
}
