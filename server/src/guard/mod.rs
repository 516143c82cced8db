//! What every request passes before any page or function sees it, in this order: headers, same origin, session.

pub mod headers;
pub mod same_origin;
pub mod signed_in;

use api::Problem;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// A refusal as a program expects it: the problem as JSON, with its status.
pub(crate) fn as_json(problem: &Problem) -> Response {
    let mut response = as_text(problem);
    *response.body_mut() = serde_json::to_string(problem).unwrap_or_default().into();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A refusal as a person reads it where no page can be rendered.
pub(crate) fn as_text(problem: &Problem) -> Response {
    (status(problem), problem.to_string()).into_response()
}

pub(crate) fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
