//! Turns the `POST` of a form into the `GET` request for the same page, which is rendered as the answer to the form.

use axum::body::Body;
use axum::extract::Request;
use http::request::Parts;
use http::{Method, header};

/// The `GET` request for the page that a form was posted to, with all headers and extensions of the `POST`.
pub(super) fn same_page(mut parts: Parts) -> Request {
    parts.method = Method::GET;
    for sent in [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::TRANSFER_ENCODING] {
        parts.headers.remove(sent);
    }
    Request::from_parts(parts, Body::empty())
}
