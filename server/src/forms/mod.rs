//! Forms that work without JavaScript: `POST` to a page's own address runs the server function that its field `form` names.
//!
//! A mutation that succeeds redirects. A refusal renders the same page again, with the refusal's status and everything
//! that was typed. A function that answers data (a review) renders the page again with that answer.

pub mod body;
mod held;

use std::sync::Arc;

use api::Problem;
use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use form_urlencoded::Serializer;
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, Limited};

use crate::{
    guard::{as_text, status},
    router::Web,
};

pub use held::{Held, hold};

/// The fields of a form, in the order of the page, without `form`.
pub type Values = Vec<(String, String)>;

/// Why a form was refused; in the request's extensions when its page is rendered again.
#[derive(Debug, Clone)]
pub struct Refused {
    pub form: String,
    pub values: Values,
    pub problem: Problem,
}

/// What a form's function answered; in the request's extensions when its page is rendered again.
#[derive(Debug, Clone)]
pub struct Answered {
    pub form: String,
    pub values: Values,
    pub json: String,
}

/// The largest answer of a function that is shown on a page.
const ANSWER_LIMIT: usize = 32 * 1024 * 1024;

/// What running a form's function led to.
enum Outcome {
    Redirect(Response),
    Answer(String),
    Refusal(Problem),
}

/// `POST` to any page.
pub async fn post(State(web): State<Arc<Web>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let filled = match body::read(&parts.headers, body, body::READ_LIMIT).await {
        Ok(filled) => filled,
        Err(problem) => return refuse(&web, parts, Refused { form: String::new(), values: Vec::new(), problem }).await,
    };
    // The button that was pressed stands after the hidden field and overrules it.
    let form =
        filled.values.iter().rev().find(|(name, _)| name == "form").map(|(_, value)| value.clone()).unwrap_or_default();
    let values: Values = filled.values.into_iter().filter(|(name, _)| name != "form").collect();
    let outcome = match filled.problem {
        Some(problem) => Outcome::Refusal(problem),
        None => run(&web, &parts, &form, &values).await,
    };
    match outcome {
        Outcome::Redirect(response) => response,
        Outcome::Refusal(problem) => refuse(&web, parts, Refused { form, values, problem }).await,
        Outcome::Answer(json) => {
            let mut page = page_again(parts);
            page.extensions_mut().insert(Answered { form, values, json });
            (web.pages.render)(page).await
        }
    }
}

/// Runs the server function `form` with `values`, as the page's script would.
async fn run(web: &Web, parts: &Parts, form: &str, values: &Values) -> Outcome {
    let known =
        !form.is_empty() && form.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !known {
        let message = "This form doesn't say what it is for. Open the page again and repeat what you did.".into();
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
    // Asked for JSON, a function answers data and statuses; asked for HTML it would redirect by itself, errors into the URL.
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
            tracing::error!(form, %error, "a form's function did not answer whole");
            return Outcome::Refusal(Problem::Internal);
        }
    };
    if answer.status.is_success() {
        return Outcome::Answer(text);
    }
    Outcome::Refusal(serde_json::from_str(&text).unwrap_or_else(|_| {
        tracing::error!(form, status = %answer.status, "a form's function answered what is no problem");
        Problem::Internal
    }))
}

async fn refuse(web: &Web, parts: Parts, refused: Refused) -> Response {
    let problem = refused.problem.clone();
    let mut page = page_again(parts);
    page.extensions_mut().insert(refused);
    let mut response = (web.pages.render)(page).await;
    if response.status().is_success() {
        *response.status_mut() = status(&problem);
    } else if response.status().is_server_error() {
        // The page itself can't be shown: say at least why the form was refused.
        return as_text(&problem);
    }
    response
}

/// The request for the same page, to be read.
fn page_again(mut parts: Parts) -> Request {
    parts.method = Method::GET;
    for sent in [header::CONTENT_LENGTH, header::CONTENT_TYPE, header::TRANSFER_ENCODING] {
        parts.headers.remove(sent);
    }
    Request::from_parts(parts, Body::empty())
}
