//! A form that is posted after its session has ended: a page keeps its fields, so that they can be sent again after sign-in.

use std::sync::Arc;
use std::time::Duration;

use api::Problem;
use app::login::HeldForm;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{Method, StatusCode, Uri};
use http_body_util::BodyExt;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::body;
use super::same_page::same_page;
use crate::web::Web;
use crate::web::problem::as_text;

/// No session is needed to send a form, so number, size and time are limited: at most this many forms are in memory at once,
/// each until its page has been sent.
static PLACES: Semaphore = Semaphore::const_new(8);
/// How long a browser may take to send a form.
const FORM_WITHIN: Duration = Duration::from_secs(30);
const AT_MOST: usize = body::LIMIT + 64 * 1024;

/// A page with the fields of the form in `request`, or an error if they can't be kept. `None` if it isn't a form of a page.
pub(in crate::web) async fn hold(web: &Arc<Web>, request: Request) -> Option<Response> {
    let Ok(place) = PLACES.try_acquire() else { return Some(not_kept("Too many forms are being kept at the moment.")) };
    let (mut parts, body) = request.into_parts();
    let filled = match timeout(FORM_WITHIN, body::read(&parts.headers, body, AT_MOST)).await {
        Ok(Ok(filled)) => filled,
        Ok(Err(problem @ Problem::TooLarge { .. })) => return Some(not_kept(&problem.to_string())),
        Ok(Err(_)) => return None,
        Err(_) => return Some(not_kept("Sending it took too long.")),
    };
    let names_a_function = filled.values.iter().any(|(name, value)| name == "form" && !value.is_empty());
    if !names_a_function {
        return None;
    }
    if let Some(problem) = filled.problem {
        return Some(not_kept(&problem.to_string()));
    }
    let action = parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
    parts.method = Method::GET;
    parts.uri = Uri::from_static("/login");
    let mut page = same_page(parts);
    page.extensions_mut().insert(HeldForm { action, fields: filled.values });
    let mut response = (web.pages.render)(page).await;
    if response.status().is_success() {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    Some(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_sent = &place;
            frame
        }))
    }))
}

/// The form isn't lost: the browser's back button shows it with everything that was typed.
fn not_kept(why: &str) -> Response {
    let message = format!(
        "Your session has ended, and this form was not kept. {why} Go back to the form in your browser, sign in in another tab, then send it again."
    );
    as_text(&Problem::BadRequest { message })
}
