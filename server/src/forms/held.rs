//! A form that comes after its session has ended: kept for its author on a page that sends it again.

use std::{sync::Arc, time::Duration};

use api::Problem;
use axum::{body::Body, extract::Request, response::Response};
use http::{Method, StatusCode, Uri};
use http_body_util::BodyExt;
use tokio::{sync::Semaphore, time::timeout};

use super::{Values, body};
use crate::{guard::as_text, router::Web};

/// A form of somebody who is not signed in; in the request's extensions when the sign-in page keeps it.
#[derive(Debug, Clone)]
pub struct Held {
    /// The address it was posted to.
    pub action: String,
    /// All its fields, `form` among them.
    pub fields: Values,
}

/// Anybody may send a form, so few are kept at once (until the page with them is sent), none is large, and none may take long.
static PLACES: Semaphore = Semaphore::const_new(8);
const PATIENCE: Duration = Duration::from_secs(30);
const AT_MOST: usize = body::LIMIT + 64 * 1024;

/// The page that keeps the form which `request` posts, or why it can't be kept; None where it is no form of a page.
pub async fn hold(web: &Arc<Web>, request: Request) -> Option<Response> {
    let Ok(place) = PLACES.try_acquire() else { return Some(not_kept("Too many forms wait here at the moment.")) };
    let (mut parts, body) = request.into_parts();
    let filled = match timeout(PATIENCE, body::read(&parts.headers, body, AT_MOST)).await {
        Ok(Ok(filled)) => filled,
        Ok(Err(problem @ Problem::TooLarge { .. })) => return Some(not_kept(&problem.to_string())),
        Ok(Err(_)) => return None,
        Err(_) => return Some(not_kept("It took too long to arrive.")),
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
    let mut page = super::page_again(parts);
    page.extensions_mut().insert(Held { action, fields: filled.values });
    let mut response = (web.pages.render)(page).await;
    if response.status().is_success() {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    Some(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_it_is_sent = &place;
            frame
        }))
    }))
}

/// What was typed is still in the browser: nothing was shown in its place.
fn not_kept(why: &str) -> Response {
    let message = format!(
        "Your session has ended, and this form was not kept. {why} Go back: your browser still has it. Sign in in another tab, then send it again."
    );
    as_text(&Problem::BadRequest { message })
}
