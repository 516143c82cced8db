//! Signing in and out: `GET /login`, `POST /login`, `POST /logout`.

use std::sync::Arc;

use api::{Problem, User};
use app::login::{LoginMode, LoginPage};
use app::redirect;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, Method, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::audit::Caller;
use crate::session::{Ended, Session, SignIn};
use crate::web::Web;
use crate::web::forms::body;
use crate::web::problem::{as_text, status};
use crate::web::{oidc, wanted};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    token: String,
    next: String,
    /// Present if the session has ended by itself: why.
    ended: Option<String>,
    /// Present after a sign-out that could not be stored.
    unstored: Option<String>,
}

/// The refusal of a link that signs in no longer.
const SPENT: &str =
    "This link was used already or has expired. Run the command below on the server to get another one.";

const ENDED: &str = "Your session ended because the cluster no longer accepts its token. Sign in with another token.";

impl Ended {
    fn code(self) -> &'static str {
        match self {
            Self::Token => "",
            Self::Renewal => "=renewal",
            Self::Unreachable => "=unreachable",
        }
    }
}

/// Why the session has ended. `name` is the provider's.
fn ended(code: &str, name: Option<&str>) -> String {
    match (code, name) {
        ("renewal", Some(name)) => format!("Your session ended because {name} did not renew it. Sign in again."),
        ("unreachable", Some(name)) => {
            format!("Your session can't be renewed because {name} can't be reached. Try again in a moment.")
        }
        _ => ENDED.to_owned(),
    }
}

const UNSTORED: &str = "You are signed out, but this could not be stored yet, for example because the disk is full. The server keeps \
                        trying. If it restarts before that, it accepts the old session again.";

/// The address of the sign-in page. `next` is the page to return to.
pub(super) fn address(next: &str) -> String {
    match local(next) {
        "/" => "/login".into(),
        next => format!("/login?next={}", utf8_percent_encode(next, NON_ALPHANUMERIC)),
    }
}

/// The same after the session has ended by itself.
pub(super) fn address_after_end(ended: Ended, next: &str) -> String {
    format!("/login?ended{}&next={}", ended.code(), utf8_percent_encode(local(next), NON_ALPHANUMERIC))
}

/// `next` if it is a page of this console, otherwise the start page.
pub(super) fn local(next: &str) -> &str {
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
    // A one-time link doesn't name the page that the user wanted before.
    let wanted = wanted::sent(request.headers());
    let next = local(if asked.next.is_empty() { &wanted } else { &asked.next }).to_owned();
    // The layer has already removed a session whose token the cluster no longer accepts, so this can't redirect in a circle.
    if session.is_some() {
        return Redirect::to(&next).into_response();
    }
    let now_ended = request.extensions().get::<Ended>().map(|ended| ended.code().trim_start_matches('=').to_owned());
    let provider = web.provider.as_ref().map(|provider| provider.name().to_owned());
    let refusal = oidc::refusal(&web, request.headers());
    let forget = refusal.is_some().then(|| oidc::forget_refusal(&web));
    let revoked = asked.ended.or(now_ended).map(|code| ended(&code, provider.as_deref()));
    let unstored = asked.unstored.is_some() && web.sessions.has_pending();
    let room = || web.room.borrow().sentence();
    let problem = refusal.or(revoked).or_else(|| unstored.then(|| UNSTORED.to_owned()));
    let page = match &web.sign_in {
        SignIn::Links(links) => {
            let valid = Some(&asked.token).filter(|token| links.is_valid(token)).cloned();
            let is_spent = valid.is_none() && request.uri().query().is_some_and(|query| query.contains("token="));
            let problem = problem.or_else(|| is_spent.then(|| SPENT.to_owned())).or_else(room);
            let mode = LoginMode::Link { valid, command: links.command() };
            LoginPage { mode, problem, next, provider }
        }
        SignIn::Tokens(_) => LoginPage { mode: LoginMode::Token, problem: problem.or_else(room), next, provider },
    };
    let keeps = asked.token.is_empty().then(|| wanted::kept(local(&asked.next))).flatten();
    let mut response = render(&web, request, page, StatusCode::OK).await;
    for cookie in keeps.into_iter().chain(forget) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
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
    let done = wanted::removal(&parts.headers);
    let caller = parts.extensions.get::<Caller>().cloned();
    let record = |user: &str, outcome: Result<(), &Problem>| {
        if let Some(caller) = &caller {
            caller.session("sign-in", user, outcome);
        }
    };
    let again = Request::from_parts(parts, Body::empty());
    let refused = |problem: &Problem, message: String| {
        let mode = match &web.sign_in {
            SignIn::Links(links) => LoginMode::Link { valid: None, command: links.command() },
            SignIn::Tokens(_) => LoginMode::Token,
        };
        let provider = web.provider.as_ref().map(|provider| provider.name().to_owned());
        let page = LoginPage { mode, problem: Some(message), next: next.to_owned(), provider };
        render(&web, again, page, status(problem))
    };
    let found = match &web.sign_in {
        SignIn::Links(links) => links
            .consume(token)
            .map(|name| (User { name, token: None }, None))
            .ok_or_else(|| Problem::field("token", SPENT.to_owned())),
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
            record("", Err(&problem));
            let message = problem.to_string();
            return refused(&problem, message).await;
        }
    };
    tracing::info!(user = user.name, "signed in");
    let name = user.name.clone();
    match web.sessions.start(user, ends) {
        Ok(cookie) => {
            record(&name, Ok(()));
            let mut response = ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response();
            response.headers_mut().extend(done.map(|cookie| (header::SET_COOKIE, cookie)));
            response
        }
        Err(error) => {
            let problem = Problem::field("token", &error);
            record(&name, Err(&problem));
            refused(&problem, error.to_string()).await
        }
    }
}

/// Signs out: the session ends everywhere, and its open sockets close.
pub(super) async fn sign_out(
    State(web): State<Arc<Web>>,
    caller: Option<Extension<Caller>>,
    headers: HeaderMap,
) -> Response {
    let mut next = "/login";
    let mut page = None;
    // From the cookie: a session that can't be used now, because the provider is down, ends too.
    if let Some(session) = web.sessions.of(&headers) {
        tracing::info!(user = session.user.name, "signed out");
        if let Some(Extension(caller)) = caller {
            caller.session("sign-out", &session.user.name, Ok(()));
        }
        if let Err(error) = web.sessions.revoke(&session) {
            // The session has ended in this process, and the browser drops the cookie in any case.
            tracing::error!(%error, "signed out, but until this is stored, a restart of the server would accept the old cookie again");
            next = "/login?unstored";
        } else if let Some(provider) = web.provider.as_ref().filter(|_| session.renewal.is_some()) {
            page = provider.sign_out_page().await.map(|url| oidc::leave(provider.name(), &url));
        }
    }
    if let Some(page) = page {
        return ([(header::SET_COOKIE, web.sessions.removal())], page).into_response();
    }
    ([(header::SET_COOKIE, web.sessions.removal())], Redirect::to(next)).into_response()
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
