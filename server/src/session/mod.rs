//! Who is signed in: a sealed cookie that survives restarts, ends after 12 hours, and can be revoked.

mod key;
pub mod links;
pub mod page;
mod review;
mod revoked;
pub mod taken_back;

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use api::User;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use cookie::{Cookie, CookieJar, Key, SameSite};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};

pub use links::Links;
pub use review::{Reviewer, TokenReviews};

/// How long a session lasts at most.
pub const LASTS: Duration = Duration::from_hours(12);

/// Browsers keep no cookie above 4096 bytes, its name and attributes included (RFC 6265, section 6.1).
const COOKIE_LIMIT: usize = 4000;

/// One person's session in one browser. In the request's extensions where there is one.
#[derive(Debug, Clone)]
pub struct Session {
    /// Random; what a sign-out revokes.
    pub id: String,
    pub user: User,
    /// Seconds since the Unix epoch.
    pub ends: u64,
}

/// Why sessions can't be kept.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "{path}: {error}. Sessions need this file; check who owns the data directory and whether its disk is full."
    )]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0} holds no session key. Delete it to make a new one; everybody will have to sign in again.")]
    Key(PathBuf),
    #[error("This token is too long to be kept in a cookie ({0} bytes sealed). Use one with fewer claims.")]
    TooLong(usize),
}

/// The sessions of one data directory.
pub struct Sessions {
    key: Key,
    cookie: String,
    secure: bool,
    revoked: revoked::Revoked,
    asked: taken_back::Asked,
}

/// What the cookie holds, sealed (AES-256-GCM, bound to the cookie's name).
#[derive(Serialize, Deserialize)]
struct Sealed {
    id: String,
    user: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    ends: u64,
}

impl Sessions {
    /// Opens the sessions kept under `data` by those who signed in to `api`, whatever tells that API from others. `secure`: the
    /// page is reached over https, so the cookie is `__Host-` and Secure.
    pub fn open(data: &Path, api: &str, secure: bool) -> Result<Self, SessionError> {
        let key = key::read_or_make(&data.join("session.key"))?;
        // Cookies don't know ports: two consoles on one machine would sign each other out under one name. Nor do they know
        // what they open: one directory may serve one API today and another tomorrow, and who may enter there is another
        // question. What is sealed is bound to the name. The name tells nothing.
        let cookie = format!("{}kubeonkube-{}", if secure { "__Host-" } else { "" }, key::name(&key, api));
        let revoked = revoked::Revoked::open(data.join("sessions-revoked"), now())?;
        Ok(Self { key, cookie, secure, revoked, asked: taken_back::Asked::default() })
    }

    /// Signs `user` in until `at_most` (seconds since the epoch) or for 12 hours; returns the `Set-Cookie` value.
    pub fn begin(&self, user: User, at_most: Option<u64>) -> Result<HeaderValue, SessionError> {
        let ends = at_most.unwrap_or(u64::MAX).min(now() + LASTS.as_secs());
        let sealed = Sealed { id: random(), user: user.name, token: user.token, ends };
        let value = serde_json::to_string(&sealed).expect("strings and a number");
        let mut jar = CookieJar::new();
        jar.private_mut(&self.key).add(self.cookie(value, ends.saturating_sub(now())));
        let cookie = jar.get(&self.cookie).expect("just added").to_string();
        if cookie.len() > COOKIE_LIMIT {
            return Err(SessionError::TooLong(cookie.len()));
        }
        Ok(cookie.parse().expect("base64 and attributes"))
    }

    /// The session that these request headers carry, unless it ended or was revoked.
    pub fn of(&self, headers: &HeaderMap) -> Option<Session> {
        self.at(headers, now())
    }

    fn at(&self, headers: &HeaderMap, now: u64) -> Option<Session> {
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut found = sent.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == self.cookie);
        let mut jar = CookieJar::new();
        jar.add_original(found.next()?.into_owned());
        let opened = jar.private(&self.key).get(&self.cookie)?;
        let Sealed { id, user, token, ends } = serde_json::from_str(opened.value()).ok()?;
        let open = now < ends && !self.revoked.contains(&id);
        open.then_some(Session { id, user: User { name: user, token }, ends })
    }

    /// Signs out: the cookie is worthless from now on, here and in any copy. The error says that a restart would forget it.
    pub fn revoke(&self, session: &Session) -> Result<(), SessionError> {
        self.revoked.add(&session.id, session.ends)
    }

    /// The `Set-Cookie` that removes the cookie from the browser.
    pub fn removal(&self) -> HeaderValue {
        self.cookie(String::new(), 0).to_string().parse().expect("a name and attributes")
    }

    /// Resolves when the session is revoked, or 12 hours old.
    pub async fn ended(&self, session: &Session) {
        let left = Duration::from_secs(session.ends.saturating_sub(now()));
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = self.revoked.added(&session.id) => {}
        }
    }

    fn cookie(&self, value: String, seconds: u64) -> Cookie<'static> {
        let age = cookie::time::Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        Cookie::build((self.cookie.clone(), value))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(self.secure)
            .max_age(age)
            .build()
    }
}

/// 256 random bits, URL-safe.
fn random() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Seconds since the Unix epoch.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann() -> User {
        User { name: "ann".into(), token: None }
    }

    const API: &str = "https://10.0.0.1:6443/";

    fn sent_back(set_cookie: &HeaderValue) -> HeaderMap {
        let pair = set_cookie.to_str().expect("ascii").split(';').next().expect("a pair").to_owned();
        HeaderMap::from_iter([(header::COOKIE, pair.parse().expect("ascii"))])
    }

    #[test]
    fn a_session_survives_a_restart() {
        let data = tempfile::tempdir().expect("a directory");
        let headers =
            sent_back(&Sessions::open(data.path(), API, false).expect("open").begin(ann(), None).expect("begin"));
        let again = Sessions::open(data.path(), API, false).expect("open again");
        assert_eq!(again.of(&headers).expect("still signed in").user, ann());
    }

    #[test]
    fn a_session_ends_after_twelve_hours_or_with_the_token() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&sessions.begin(ann(), None).expect("begin"));
        assert!(sessions.at(&headers, now() + LASTS.as_secs() - 60).is_some());
        assert!(sessions.at(&headers, now() + LASTS.as_secs() + 1).is_none());
        let short = sent_back(&sessions.begin(ann(), Some(now() + 60)).expect("begin"));
        assert!(sessions.at(&short, now() + 61).is_none());
    }

    #[test]
    fn sign_out_revokes_also_after_a_restart() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&sessions.begin(ann(), None).expect("begin"));
        let other = sent_back(&sessions.begin(ann(), None).expect("begin"));
        sessions.revoke(&sessions.of(&headers).expect("signed in")).expect("revoked");
        assert!(sessions.of(&headers).is_none());
        let again = Sessions::open(data.path(), API, false).expect("open again");
        assert!(again.of(&headers).is_none(), "the revocation was forgotten");
        assert!(again.of(&other).is_some(), "another session ended with it");
    }

    #[test]
    fn a_cookie_that_was_touched_or_made_elsewhere_is_no_session() {
        let (data, elsewhere) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let foreign = Sessions::open(elsewhere.path(), API, false).expect("open").begin(ann(), None).expect("begin");
        let foreign = foreign.to_str().expect("ascii").split_once('=').expect("a pair").1.to_owned();
        for value in ["", "{}", r#"{"id":"x","user":"root","ends":99999999999}"#, &foreign] {
            let headers = sent_back(&format!("{}={value}", sessions.cookie).parse().expect("ascii"));
            assert!(sessions.of(&headers).is_none(), "{value}");
        }
    }

    #[test]
    fn a_session_of_one_api_is_none_of_another() {
        let data = tempfile::tempdir().expect("a directory");
        let first = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&first.begin(ann(), None).expect("begin"));
        let second = Sessions::open(data.path(), "https://10.0.0.2:6443/", false).expect("open");
        assert!(first.of(&headers).is_some() && second.of(&headers).is_none());
        let renamed = headers[header::COOKIE].to_str().expect("ascii").replace(&first.cookie, &second.cookie);
        assert!(
            second.of(&sent_back(&renamed.parse().expect("ascii"))).is_none(),
            "under the other's name it was taken"
        );
    }

    #[test]
    fn the_cookie_is_http_only_and_lax_and_with_https_host_bound_and_secure() {
        let data = tempfile::tempdir().expect("a directory");
        let plain = Sessions::open(data.path(), API, false).expect("open").begin(ann(), None).expect("begin");
        let plain = plain.to_str().expect("ascii");
        assert!(plain.contains("HttpOnly") && plain.contains("SameSite=Lax") && plain.contains("Path=/"), "{plain}");
        assert!(!plain.contains("Secure") && !plain.contains("Domain"), "{plain}");
        let secure = Sessions::open(data.path(), API, true).expect("open").begin(ann(), None).expect("begin");
        let secure = secure.to_str().expect("ascii");
        assert!(secure.starts_with("__Host-") && secure.contains("Secure"), "{secure}");
    }

    #[test]
    fn a_token_that_no_cookie_can_hold_is_refused() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, true).expect("open");
        let user = User { name: "ann".into(), token: Some("t".repeat(5000)) };
        assert!(matches!(sessions.begin(user, None), Err(SessionError::TooLong(_))));
    }
}
