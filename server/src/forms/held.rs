//! A form that comes after its session has ended: kept for its author on a page that sends it again.

use std::{sync::Arc, time::Duration};

use axum::{extract::Request, response::Response};
use http::{Method, StatusCode, Uri};
use tokio::{sync::Semaphore, time::timeout};

use super::{Values, body};
use crate::router::{FUNCTION_LIMIT, Web};

/// A form of somebody who is not signed in; in the request's extensions when the sign-in page keeps it.
#[derive(Debug, Clone)]
pub struct Held {
    /// The address it was posted to.
    pub action: String,
    /// All its fields, `form` among them.
    pub fields: Values,
}

/// Anybody may send a form, so few are read at once, and none for long.
static PLACES: Semaphore = Semaphore::const_new(8);
const PATIENCE: Duration = Duration::from_secs(30);

/// The page that keeps the form which `request` posts; None where nothing can be kept.
pub async fn hold(web: &Arc<Web>, request: Request) -> Option<Response> {
    let _place = PLACES.try_acquire().ok()?;
    let (mut parts, body) = request.into_parts();
    let filled = timeout(PATIENCE, body::read(&parts.headers, body, FUNCTION_LIMIT)).await.ok()?.ok()?;
    let names_a_function = filled.values.iter().any(|(name, value)| name == "form" && !value.is_empty());
    if !names_a_function {
        return None;
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
    Some(response)
}
