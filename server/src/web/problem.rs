//! A [`Problem`] as a response.

use api::Problem;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// For programs: the problem as JSON, with its status.
pub(super) fn as_json(problem: &Problem) -> Response {
    let mut response = as_text(problem);
    *response.body_mut() = serde_json::to_string(problem).unwrap_or_default().into();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// For people, where no page can be rendered: the problem's sentence, with its status.
pub(super) fn as_text(problem: &Problem) -> Response {
    (status(problem), problem.to_string()).into_response()
}

pub(super) fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
