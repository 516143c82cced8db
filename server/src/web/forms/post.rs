//! `POST` to a page's own address: runs the server function that the field `form` names.

use std::sync::Arc;

use api::Problem;
use app::{FormAnswer, FormReturn};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use form_urlencoded::Serializer;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Limited};

use super::body::{self, Values};
use super::same_page::same_page;
use crate::web::Web;
use crate::web::problem::{as_text, status};

/// The largest answer of a server function that a page shows, in bytes.
const ANSWER_LIMIT: usize = 32 * 1024 * 1024;

/// What the server function of a form answered.
enum Outcome {
    Redirect(Response),
    /// JSON.
    Answer(String),
    Refusal(Problem),
}

/// `POST` to any page.
pub(in crate::web) async fn post(State(web): State<Arc<Web>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let filled = match body::read(&parts.headers, body, body::READ_LIMIT).await {
        Ok(filled) => filled,
        Err(problem) => {
            return refuse(&web, parts, FormReturn { form: String::new(), values: Vec::new(), problem }).await;
        }
    };
    // A page sends the hidden field first and then the pressed button, which takes precedence.
    let form =
        filled.values.iter().rev().find(|(name, _)| name == "form").map(|(_, value)| value.clone()).unwrap_or_default();
    let values: Values = filled.values.into_iter().filter(|(name, _)| name != "form").collect();
    let outcome = match filled.problem {
        Some(problem) => Outcome::Refusal(problem),
        None => run(&web, &parts, &form, &values).await,
    };
    match outcome {
        Outcome::Redirect(response) => response,
        Outcome::Refusal(problem) => refuse(&web, parts, FormReturn { form, values, problem }).await,
        Outcome::Answer(json) => {
            let mut page = same_page(parts);
            page.extensions_mut().insert(FormAnswer { form, values, answer_json: json });
            (web.pages.render)(page).await
        }
    }
}

/// Runs the server function `form` with `values`, as the page's script would.
async fn run(web: &Web, parts: &Parts, form: &str, values: &Values) -> Outcome {
    let known =
        !form.is_empty() && form.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !known {
        let message = "This form doesn't name the action to run. Reload the page and try again.".into();
        return Outcome::Refusal(Problem::BadRequest { message });
    }
    let encoded = Serializer::new(String::new()).extend_pairs(values).finish();
    let mut call = Request::new(Body::from(encoded));
    *call.method_mut() = Method::POST;
    *call.uri_mut() = format!("/api/{form}").parse().expect("letters, digits and underscores");
    *call.headers_mut() = parts.headers.clone();
    *call.extensions_mut() = parts.extensions.clone();
    for stale in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::REFERER] {
        call.headers_mut().remove(stale);
    }
    call.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    // With `accept: text/html` the function would redirect and put errors into the URL. With JSON it answers data and statuses.
    call.headers_mut().insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    let (answer, body) = (web.pages.call)(call).await.into_parts();
    if let Some(location) = answer.headers.get(header::LOCATION).filter(|_| answer.status.is_success()) {
        let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, location.clone())]).into_response();
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            response.headers_mut().append(header::SET_COOKIE, cookie.clone());
        }
        return Outcome::Redirect(response);
    }
    let text = match Limited::new(body, ANSWER_LIMIT).collect().await {
        Ok(whole) => String::from_utf8_lossy(&whole.to_bytes()).into_owned(),
        Err(error) => {
            tracing::error!(form, %error, "the answer of a form's function could not be read");
            return Outcome::Refusal(Problem::Internal);
        }
    };
    if answer.status.is_success() {
        return Outcome::Answer(text);
    }
    Outcome::Refusal(serde_json::from_str(&text).unwrap_or_else(|_| {
        tracing::error!(form, status = %answer.status, "a form's function failed with an answer that is not a Problem");
        Problem::Internal
    }))
}

async fn refuse(web: &Web, parts: Parts, refused: FormReturn) -> Response {
    let problem = refused.problem.clone();
    let mut page = same_page(parts);
    page.extensions_mut().insert(refused);
    let mut response = (web.pages.render)(page).await;
    if response.status().is_success() {
        *response.status_mut() = status(&problem);
    } else if response.status().is_server_error() {
        // The page itself can't be rendered: show at least why the form was refused.
        return as_text(&problem);
    }
    response
}
