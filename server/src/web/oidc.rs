//! Signing in at an OIDC provider: `GET /login/oidc` sends the browser there, and `GET /login/oidc/callback` is where it comes back.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use api::Problem;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};

use super::Web;
use super::sign_in::{address, local};
use crate::audit::Caller;
use crate::oidc::{OidcError, Provider, Started, Tokens};
use crate::session::{Session, SignIn};

pub(super) const START: &str = "/login/oidc";
pub(super) const CALLBACK: &str = "/login/oidc/callback";

/// How long a sign-in at the provider may take, in seconds.
const WITHIN: u64 = 600;

/// The longest address to return to, in bytes, and the longest sentence, in characters: both are kept in cookies.
const LONGEST_NEXT: usize = 2000;
const LONGEST_SENTENCE: usize = 500;

/// The cookies of a sign-in that has begun, and of a refusal that the sign-in page shows.
const BEGUN: &str = "-begun";
const REFUSED: &str = "-refused";

/// What the browser keeps, sealed, while the person is at the provider.
#[derive(Serialize, Deserialize)]
struct Begun {
    state: String,
    nonce: String,
    verifier: String,
    /// The page to open afterwards.
    next: String,
    /// Seconds since the epoch.
    ends: u64,
}

impl Begun {
    fn at(started: Started, next: &str, now: u64) -> Self {
        let Started { url: _, state, nonce, verifier } = started;
        Self { state, nonce, verifier, next: next.to_owned(), ends: now + WITHIN }
    }

    /// Whether the browser comes back with this state from the sign-in that it began, and in time.
    fn is_answered_by(&self, state: &str, now: u64) -> bool {
        now < self.ends && !state.is_empty() && self.state == state
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    next: String,
}

/// What the provider adds to the address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Returned {
    code: String,
    state: String,
    error: String,
}

/// Sends the browser to the provider.
pub(super) async fn start(
    State(web): State<Arc<Web>>,
    session: Option<Extension<Session>>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let next = local(&wanted.next);
    let next = if next.len() > LONGEST_NEXT { "/" } else { next };
    let Some(provider) = web.provider.as_ref().filter(|_| session.is_none()) else {
        return Redirect::to(if session.is_some() { next } else { "/login" }).into_response();
    };
    match provider.start().await {
        Ok(started) => {
            let url = started.url.clone();
            let begun = Begun::at(started, next, now());
            let value = serde_json::to_string(&begun).expect("strings and a number");
            match web.sessions.seal(BEGUN, value, WITHIN) {
                Ok(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to(&url)).into_response(),
                Err(error) => refuse(&web, &error.to_string(), next),
            }
        }
        Err(error) => {
            tracing::warn!(%error, "a sign-in at the provider could not begin");
            refuse(&web, &error.to_string(), next)
        }
    }
}

/// Signs in with what the provider has added to the address.
pub(super) async fn callback(
    State(web): State<Arc<Web>>,
    Query(returned): Query<Returned>,
    caller: Option<Extension<Caller>>,
    headers: HeaderMap,
) -> Response {
    let (Some(provider), SignIn::Tokens(_)) = (&web.provider, &web.sign_in) else {
        return Redirect::to("/login").into_response();
    };
    let begun = web.sessions.unseal(BEGUN, &headers).and_then(|text| serde_json::from_str::<Begun>(&text).ok());
    let next = begun.as_ref().map(|begun| local(&begun.next).to_owned()).unwrap_or_default();
    // Without the right state, this address may come from another site, so nothing in it counts, not even its error.
    let begun = begun.filter(|begun| begun.is_answered_by(&returned.state, now()));
    let mut response = if let Some(begun) = begun {
        let result = signed_in(&web, &**provider, &begun, &returned).await;
        if let Some(Extension(caller)) = &caller {
            let user = result.as_ref().map_or("", |(user, _)| user);
            caller.session("sign-in", user, result.as_ref().map(|_| ()));
        }
        match result {
            Ok((_, cookie)) => ([(header::SET_COOKIE, cookie)], Redirect::to(local(&next))).into_response(),
            Err(problem) => {
                let why = problem.to_string();
                tracing::warn!(why, "a sign-in at the provider was refused");
                refuse(&web, &why, &next)
            }
        }
    } else {
        tracing::warn!("a browser came back from the provider without the sign-in that it began");
        let name = provider.name();
        let why = format!(
            "This sign-in was not started in this browser, or more than 10 minutes ago. Sign in with {name} again."
        );
        refuse(&web, &why, &next)
    };
    // A sign-in that has begun ends once, whatever its result is.
    response.headers_mut().append(header::SET_COOKIE, web.sessions.unset(BEGUN));
    response
}

/// The user and the session's cookie, or what the sign-in page says.
async fn signed_in(
    web: &Web,
    provider: &dyn Provider,
    begun: &Begun,
    returned: &Returned,
) -> Result<(String, HeaderValue), Problem> {
    let name = provider.name();
    match returned.error.as_str() {
        "" => {}
        "access_denied" => {
            let message = format!("{name} did not sign you in: access was denied, or the sign-in was cancelled.");
            return Err(Problem::Forbidden { message });
        }
        other => {
            let code: String = other.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect();
            let message = format!("{name} did not sign you in ({code}). Try again in a moment.");
            return Err(match code.as_str() {
                "server_error" | "temporarily_unavailable" => Problem::Unavailable { message },
                _ => Problem::Forbidden { message },
            });
        }
    }
    let tokens = provider.finish(&returned.code, &begun.nonce, &begun.verifier).await;
    let tokens = tokens.map_err(|error| match &error {
        OidcError::Refused { .. } => Problem::Forbidden { message: error.to_string() },
        _ => Problem::Unavailable { message: error.to_string() },
    })?;
    accepted(web, name, tokens).await
}

/// Signs in with these tokens, if the cluster accepts the ID token.
async fn accepted(web: &Web, name: &str, tokens: Tokens) -> Result<(String, HeaderValue), Problem> {
    let SignIn::Tokens(reviewer) = &web.sign_in else {
        return Err(Problem::Forbidden { message: "Sign in with a link.".into() });
    };
    let found = reviewer.review(&tokens.id_token).await?;
    let (user, _) = found.ok_or_else(|| Problem::Forbidden {
        message: format!(
            "{name} signed you in, but the cluster does not accept its token. The API server must trust the same issuer and client \
             as this console. Ask the administrator of the cluster."
        ),
    })?;
    tracing::info!(user = user.name, provider = name, "signed in");
    let person = user.name.clone();
    let cookie = web.sessions.start_with(user, tokens);
    cookie.map(|cookie| (person, cookie)).map_err(|error| Problem::Unavailable { message: error.to_string() })
}

/// Back to the sign-in page, which shows `why`. The sentence is sealed in a cookie: in the address, any site could write it.
fn refuse(web: &Web, why: &str, next: &str) -> Response {
    let mut response = Redirect::to(&address(next)).into_response();
    match web.sessions.seal(REFUSED, why.chars().take(LONGEST_SENTENCE).collect(), 60) {
        Ok(cookie) => drop(response.headers_mut().insert(header::SET_COOKIE, cookie)),
        Err(error) => tracing::warn!(%error, why, "the sign-in page can't say why"),
    }
    response
}

/// Why the last sign-in at the provider was refused.
pub(super) fn refusal(web: &Web, headers: &HeaderMap) -> Option<String> {
    web.sessions.unseal(REFUSED, headers).filter(|why| !why.is_empty())
}

/// The `Set-Cookie` that makes the sign-in page forget it.
pub(super) fn forget_refusal(web: &Web) -> HeaderValue {
    web.sessions.unset(REFUSED)
}

/// A page that leads to the provider's own sign-out. A redirect won't do: the content security policy lets forms lead to this site only.
pub(super) fn leave(name: &str, url: &str) -> Response {
    let (name, url) = (escaped(name), escaped(url));
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={url}\">\
         <title>Signed out</title></head><body><p>You are signed out of kubeonkube. <a href=\"{url}\">Sign out of {name}</a></p></body></html>"
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_that_took_too_long_is_refused() {
        let text = |text: &str| text.to_owned();
        let started = Started { url: text("https://id"), state: text("s"), nonce: text("n"), verifier: text("v") };
        let begun = Begun::at(started, "/", 1000);
        assert!(begun.is_answered_by("s", 1000) && begun.is_answered_by("s", 1599));
        assert!(!begun.is_answered_by("s", 1600), "after ten minutes");
        assert!(!begun.is_answered_by("", 1000) && !begun.is_answered_by("x", 1000));
    }
}
