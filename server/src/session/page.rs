//! Signing in and out: `GET /login`, `POST /login`, `POST /logout`.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Query, Request, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{Method, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use api::{Problem, User};

use super::{Links, Reviewer, Session, taken_back::TakenBack};
use crate::{
    forms::body,
    guard::{as_text, status},
    router::Web,
};

/// How people sign in here.
pub enum SignIn {
    /// Standalone: by a link that the terminal shows.
    Links(Links),
    /// In a cluster: by the person's own Kubernetes token.
    Tokens(Arc<dyn Reviewer>),
}

/// What `/login` shows; in the request's extensions when that page is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInPage {
    pub mode: SignInMode,
    /// Why the last attempt didn't work.
    pub problem: Option<String>,
    /// Where to go afterwards.
    pub next: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInMode {
    /// `valid`: the token of the link that was opened, if it still signs in.
    Link {
        valid: Option<String>,
    },
    Token,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    token: String,
    next: String,
    /// There if the session's token was taken back.
    ended: Option<String>,
}

const SPENT: &str = "This link was used already, or is too old. Run `kubeonkube login` on the server for another one.";

const ENDED: &str = "Your session ended: the cluster no longer accepts its token. Sign in with another one.";

/// The page's address, with the way back.
pub fn address(next: &str) -> String {
    match local(next) {
        "/" => "/login".into(),
        next => format!("/login?next={}", utf8_percent_encode(next, NON_ALPHANUMERIC)),
    }
}

/// The page's address for somebody whose token was taken back, with the way back.
pub fn address_after_end(next: &str) -> String {
    format!("/login?ended&next={}", utf8_percent_encode(local(next), NON_ALPHANUMERIC))
}

/// `next` if it is a path of this site to which a sign-in may lead back, otherwise the start page.
fn local(next: &str) -> &str {
    let inside = app::redirect::is_local(next);
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic());
    if inside && plain && !next.starts_with("/login") && !next.starts_with("/logout") { next } else { "/" }
}

/// Shows the page. Opening a link consumes nothing: mail scanners and previews open links too.
pub async fn show(
    State(web): State<Arc<Web>>,
    session: Option<Extension<Session>>,
    Query(asked): Query<Asked>,
    request: Request,
) -> Response {
    let next = local(&asked.next).to_owned();
    // A session whose token was taken back is none any more: whoever was sent here because of that is not sent back.
    if session.is_some() {
        return Redirect::to(&next).into_response();
    }
    let taken_back = asked.ended.is_some() || request.extensions().get::<TakenBack>().is_some();
    let problem = taken_back.then(|| ENDED.to_owned());
    let page = match &web.sign_in {
        SignIn::Links(links) => {
            let valid = Some(asked.token).filter(|token| links.waits(token));
            let spent = valid.is_none() && request.uri().query().is_some_and(|query| query.contains("token="));
            SignInPage { mode: SignInMode::Link { valid }, problem: spent.then(|| SPENT.to_owned()), next }
        }
        SignIn::Tokens(_) => SignInPage { mode: SignInMode::Token, problem, next },
    };
    render(&web, request, page, StatusCode::OK).await
}

/// Bytes of a sign-in form: a token and an address. Anybody may send one, so little of it is read.
const SIGN_IN_LIMIT: usize = 64 * 1024;

/// Signs in: consumes the link, or has the token reviewed.
pub async fn sign_in(State(web): State<Arc<Web>>, request: Request) -> Response {
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
            SignIn::Links(_) => SignInMode::Link { valid: None },
            SignIn::Tokens(_) => SignInMode::Token,
        };
        render(&web, again, SignInPage { mode, problem: Some(message), next: next.to_owned() }, status(problem))
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
                    "The cluster does not accept this token: it may be mistyped, expired or for another cluster.",
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
    match web.sessions.begin(user, ends) {
        Ok(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response(),
        Err(error) => refused(&Problem::field("token", &error), error.to_string()).await,
    }
}

/// Signs out: the session is over everywhere, its open sockets too.
pub async fn sign_out(State(web): State<Arc<Web>>, session: Option<Extension<Session>>) -> Response {
    if let Some(Extension(session)) = session {
        tracing::info!(user = session.user.name, "signed out");
        if let Err(error) = web.sessions.revoke(&session) {
            // Over for this process; the cookie is removed in any case.
            tracing::error!(%error, "a sign-out would not survive a restart");
        }
    }
    ([(header::SET_COOKIE, web.sessions.removal())], Redirect::to("/login")).into_response()
}

async fn render(web: &Web, mut request: Request, page: SignInPage, status: StatusCode) -> Response {
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
    fn the_way_back_never_leaves_this_site() {
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
