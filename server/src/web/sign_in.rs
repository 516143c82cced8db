//! Signing in and out: `GET /login`, `POST /login`, `POST /logout`.

use std::sync::Arc;

use api::{Problem, User};
use app::login::{LoginMode, LoginPage};
use app::redirect;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::session::{Session, SignIn, TokenRevoked};
use crate::web::Web;
use crate::web::forms::body;
use crate::web::problem::{as_text, status};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    token: String,
    next: String,
    /// Present if the cluster no longer accepts the session's token.
    ended: Option<String>,
}

const SPENT: &str =
    "This link was used already or has expired. Run `kubeonkube login` on the server to get another one.";

const ENDED: &str = "Your session ended because the cluster no longer accepts its token. Sign in with another token.";

/// The address of the sign-in page. `next` is the page to return to.
pub(super) fn address(next: &str) -> String {
    match local(next) {
        "/" => "/login".into(),
        next => format!("/login?next={}", utf8_percent_encode(next, NON_ALPHANUMERIC)),
    }
}

/// The same after the cluster stopped accepting the session's token.
pub(super) fn address_after_end(next: &str) -> String {
    format!("/login?ended&next={}", utf8_percent_encode(local(next), NON_ALPHANUMERIC))
}

/// `next` if it is a page of this console, otherwise the start page.
fn local(next: &str) -> &str {
    let signs_out = next.starts_with("/login") || next.starts_with("/logout");
    if redirect::is_local(next) && !signs_out { next } else { "/" }
}

/// Shows the page. Opening a link doesn't use it up: mail scanners and link previews open links too.
pub(super) async fn show(
    State(web): State<Arc<Web>>,
    session: Option<Extension<Session>>,
    Query(asked): Query<Asked>,
    request: Request,
) -> Response {
    let next = local(&asked.next).to_owned();
    // The layer has already removed a session whose token the cluster no longer accepts, so this can't redirect in a circle.
    if session.is_some() {
        return Redirect::to(&next).into_response();
    }
    let revoked = asked.ended.is_some() || request.extensions().get::<TokenRevoked>().is_some();
    let problem = revoked.then(|| ENDED.to_owned());
    let page = match &web.sign_in {
        SignIn::Links(links) => {
            let valid = Some(asked.token).filter(|token| links.is_valid(token));
            let spent = valid.is_none() && request.uri().query().is_some_and(|query| query.contains("token="));
            LoginPage { mode: LoginMode::Link { valid }, problem: spent.then(|| SPENT.to_owned()), next }
        }
        SignIn::Tokens(_) => LoginPage { mode: LoginMode::Token, problem, next },
    };
    render(&web, request, page, StatusCode::OK).await
}

/// The largest sign-in form, in bytes: a token and an address. It needs no session, so the limit is low.
const SIGN_IN_LIMIT: usize = 64 * 1024;

/// Signs in: uses up the link, or has the cluster check the token.
pub(super) async fn sign_in(State(web): State<Arc<Web>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let fields = match body::read(&parts.headers, body, SIGN_IN_LIMIT).await {
        Ok(form) => form.values,
        Err(problem) => return as_text(&problem),
    };
    let field =
        |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim()).unwrap_or_default();
    let (token, next) = (field("token"), local(field("next")));
    let again = Request::from_parts(parts, Body::empty());
    let refused = |problem: &Problem, message: String| {
        let mode = match web.sign_in {
            SignIn::Links(_) => LoginMode::Link { valid: None },
            SignIn::Tokens(_) => LoginMode::Token,
        };
        render(&web, again, LoginPage { mode, problem: Some(message), next: next.to_owned() }, status(problem))
    };
    let found = match &web.sign_in {
        SignIn::Links(links) => links
            .consume(token)
            .map(|name| (User { name, token: None }, None))
            .ok_or_else(|| Problem::field("token", SPENT)),
        SignIn::Tokens(reviewer) => match reviewer.review(token).await {
            Ok(found) => found.ok_or_else(|| {
                Problem::field(
                    "token",
                    "The cluster does not accept this token. It may be mistyped, expired or for another cluster.",
                )
            }),
            Err(problem) => Err(problem),
        },
    };
    let (user, ends) = match found {
        Ok(found) => found,
        Err(problem) => {
            tracing::warn!("a sign-in was refused");
            let message = problem.to_string();
            return refused(&problem, message).await;
        }
    };
    tracing::info!(user = user.name, "signed in");
    match web.sessions.start(user, ends) {
        Ok(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response(),
        Err(error) => refused(&Problem::field("token", &error), error.to_string()).await,
    }
}

/// Signs out: the session ends everywhere, and its open sockets close.
pub(super) async fn sign_out(State(web): State<Arc<Web>>, session: Option<Extension<Session>>) -> Response {
    if let Some(Extension(session)) = session {
        tracing::info!(user = session.user.name, "signed out");
        if let Err(error) = web.sessions.revoke(&session) {
            // The session has ended in this process, and the browser drops the cookie in any case.
            tracing::error!(%error, "signed out, but a restart of the server would accept the old cookie again");
        }
    }
    ([(header::SET_COOKIE, web.sessions.removal())], Redirect::to("/login")).into_response()
}

async fn render(web: &Web, mut request: Request, page: LoginPage, status: StatusCode) -> Response {
    *request.method_mut() = Method::GET;
    request.extensions_mut().insert(page);
    let mut response = (web.pages.render)(request).await;
    if response.status().is_success() {
        *response.status_mut() = status;
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redirect_after_sign_in_stays_on_this_site() {
        assert_eq!(local("/clusters?sort=-name#x"), "/clusters?sort=-name#x");
        for foreign in
            ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "/\t/evil.example", "/a\r\nb"]
        {
            assert_eq!(local(foreign), "/", "{foreign:?}");
        }
        assert_eq!(address("/clusters?a=b&c"), "/login?next=%2Fclusters%3Fa%3Db%26c");
        assert_eq!(address("/"), "/login");
    }
}
