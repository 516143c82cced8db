//! The sessions of one data directory: made at sign-in, read from each request's cookie, revoked at sign-out.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::User;
use cookie::{Cookie, CookieJar, Key, SameSite};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};

use super::checked::Checked;
use super::held::Held;
use super::revoked::Revoked;
use super::{SessionError, key, links};
use crate::oidc::{Provider, Tokens};

/// The longest that a session lasts.
pub const LASTS: Duration = Duration::from_hours(12);

/// Browsers may drop a cookie above 4096 bytes, its name and attributes included (RFC 6265, section 6.1).
const COOKIE_LIMIT: usize = 4000;

/// One person's session in one browser. A signed-in request carries it in its extensions.
#[derive(Debug, Clone)]
pub struct Session {
    /// Random. Sign-out revokes it.
    pub id: String,
    pub user: User,
    /// Seconds since the Unix epoch.
    pub ends: u64,
    /// Of a session that began at an OIDC provider: when its token should be renewed, and when it expires. Seconds since the epoch.
    pub renewal: Option<Renewal>,
}

/// When the token of a session is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewal {
    pub due: u64,
    pub expires: u64,
}

impl Session {
    /// Resolves when the session's token should be renewed, which needs a new request. Never resolves for other sessions.
    pub(crate) async fn token_is_due(&self) {
        let Some(Renewal { due, expires }) = self.renewal else { return std::future::pending().await };
        let now = now();
        // A renewal that was due at the start has failed. The token can still be used until it expires.
        let at = if now < due { due } else { expires };
        tokio::time::sleep(Duration::from_secs(at.saturating_sub(now))).await;
    }
}

/// The sessions of one data directory.
pub struct Sessions {
    key: Key,
    cookie: String,
    secure: bool,
    revoked: Revoked,
    pub(super) checked: Checked,
    pub(super) held: Arc<Held>,
}

/// The content of the cookie, encrypted (AES-256-GCM, bound to the cookie's name).
#[derive(Serialize, Deserialize)]
struct Sealed {
    id: String,
    user: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// Whether the server keeps the token.
    #[serde(default, skip_serializing_if = "is_false")]
    held: bool,
    ends: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Sessions {
    /// Opens the sessions kept under `data`. `api` identifies the Kubernetes API that people sign in to: sessions of another API
    /// are not accepted. `secure`: the page is reached over https, so the cookie is `__Host-` and Secure.
    pub fn open(data: &Path, api: &str, secure: bool) -> Result<Self, SessionError> {
        let key = key::read_or_make(&data.join("session.key"))?;
        // The name of the cookie depends on the key and on the API, for two reasons. Browsers send a cookie to every port of a
        // host, so with one fixed name two consoles on one machine would overwrite each other's. And one data directory may
        // serve one API today and another tomorrow: the encryption is bound to the name, so the other API's sessions fail.
        let cookie = format!("{}kubeonkube-{}", if secure { "__Host-" } else { "" }, key::name(&key, api));
        let revoked = Revoked::open(data.join("sessions-revoked"), now())?;
        let held = Arc::new(Held::open(data, key.clone()));
        Ok(Self { key, cookie, secure, revoked, checked: Checked::default(), held })
    }

    /// Lets `provider` renew the tokens of sessions that began there.
    #[must_use]
    pub fn renewed_by(mut self, provider: Arc<dyn Provider>) -> Self {
        Arc::get_mut(&mut self.held).expect("not shared before the start").use_provider(provider);
        self
    }

    /// Signs `user` in with tokens of an OIDC provider, which are kept on the server. Without a refresh token, the session ends with
    /// the ID token.
    pub fn start_with(&self, user: User, tokens: Tokens) -> Result<HeaderValue, SessionError> {
        let latest = now() + LASTS.as_secs();
        let ends = if tokens.refresh_token.is_some() { latest } else { latest.min(tokens.expires) };
        let sealed = Sealed { id: links::random(), user: user.name, token: None, held: true, ends };
        let cookie = self.set(&sealed)?;
        self.held.add(&sealed.id, tokens);
        Ok(cookie)
    }

    /// Signs `user` in until `at_most` (seconds since the epoch) or for 12 hours; returns the `Set-Cookie` value.
    pub fn start(&self, user: User, at_most: Option<u64>) -> Result<HeaderValue, SessionError> {
        let ends = at_most.unwrap_or(u64::MAX).min(now() + LASTS.as_secs());
        self.set(&Sealed { id: links::random(), user: user.name, token: user.token, held: false, ends })
    }

    fn set(&self, sealed: &Sealed) -> Result<HeaderValue, SessionError> {
        let value = serde_json::to_string(sealed).expect("strings and a number");
        self.seal("", value, sealed.ends.saturating_sub(now()))
    }

    /// The `Set-Cookie` of a further encrypted cookie, which the browser keeps for `seconds`.
    pub(crate) fn seal(&self, suffix: &str, value: String, seconds: u64) -> Result<HeaderValue, SessionError> {
        let cookie = self.cookie(suffix, value, seconds);
        let name = cookie.name().to_owned();
        let mut jar = CookieJar::new();
        jar.private_mut(&self.key).add(cookie);
        let cookie = jar.get(&name).expect("just added").to_string();
        if cookie.len() > COOKIE_LIMIT {
            return Err(SessionError::TooLong(cookie.len()));
        }
        Ok(cookie.parse().expect("base64 and attributes"))
    }

    /// The content of such a cookie. `None` if the browser sent none, or a changed one.
    pub(crate) fn unseal(&self, suffix: &str, headers: &HeaderMap) -> Option<String> {
        let name = format!("{}{suffix}", self.cookie);
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut found = sent.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == name);
        let mut jar = CookieJar::new();
        jar.add_original(found.next()?.into_owned());
        Some(jar.private(&self.key).get(&name)?.value().to_owned())
    }

    /// The `Set-Cookie` that removes such a cookie.
    pub(crate) fn unset(&self, suffix: &str) -> HeaderValue {
        self.cookie(suffix, String::new(), 0).to_string().parse().expect("a name and attributes")
    }

    /// The session in these request headers, unless it has ended or was revoked.
    pub fn of(&self, headers: &HeaderMap) -> Option<Session> {
        self.at(headers, now())
    }

    fn at(&self, headers: &HeaderMap, now: u64) -> Option<Session> {
        let Sealed { id, user, token, held, ends } = serde_json::from_str(&self.unseal("", headers)?).ok()?;
        if now >= ends || self.revoked.contains(&id) {
            return None;
        }
        if !held {
            return Some(Session { id, user: User { name: user, token }, ends, renewal: None });
        }
        let tokens = self.held.get(&id)?;
        Some(Session { id, user: User { name: user, token: None }, ends, renewal: None }.with(tokens))
    }

    /// Signs out: the cookie and every copy of it stop working. An error means that a restart of the server would undo this, until
    /// [`Sessions::store_pending`] has stored it.
    pub fn revoke(&self, session: &Session) -> Result<(), SessionError> {
        let stored = self.revoked.add(&session.id, session.ends, now());
        if session.renewal.is_some() {
            self.held.remove(&session.id);
        }
        stored
    }

    /// Whether there are sign-outs that a restart would undo.
    pub fn has_pending(&self) -> bool {
        self.revoked.has_pending()
    }

    /// Stores sign-outs that could not be stored before. Never returns.
    pub async fn store_pending(&self) {
        self.revoked.store_pending().await;
    }

    /// The `Set-Cookie` that removes the cookie from the browser.
    pub fn removal(&self) -> HeaderValue {
        self.unset("")
    }

    /// Resolves when the session is revoked, or at its end time.
    pub(super) async fn revoked_or_expired(&self, session: &Session) {
        let left = Duration::from_secs(session.ends.saturating_sub(now()));
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = self.revoked.added(&session.id) => {}
        }
    }

    fn cookie(&self, suffix: &str, value: String, seconds: u64) -> Cookie<'static> {
        let age = cookie::time::Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        Cookie::build((format!("{}{suffix}", self.cookie), value))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(self.secure)
            .max_age(age)
            .build()
    }
}

impl Session {
    /// The same session with these tokens.
    pub(super) fn with(mut self, tokens: Tokens) -> Self {
        self.renewal = Some(Renewal { due: tokens.renew_at(), expires: tokens.expires });
        self.user.token = Some(tokens.id_token);
        self
    }
}

/// Seconds since the Unix epoch.
pub(super) fn now() -> u64 {
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
            sent_back(&Sessions::open(data.path(), API, false).expect("open").start(ann(), None).expect("started"));
        let again = Sessions::open(data.path(), API, false).expect("open again");
        assert_eq!(again.of(&headers).expect("still signed in").user, ann());
    }

    #[test]
    fn a_session_ends_after_twelve_hours_or_with_the_token() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&sessions.start(ann(), None).expect("started"));
        assert!(sessions.at(&headers, now() + LASTS.as_secs() - 60).is_some());
        assert!(sessions.at(&headers, now() + LASTS.as_secs() + 1).is_none());
        let short = sent_back(&sessions.start(ann(), Some(now() + 60)).expect("started"));
        assert!(sessions.at(&short, now() + 61).is_none());
    }

    #[test]
    fn sign_out_revokes_also_after_a_restart() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&sessions.start(ann(), None).expect("started"));
        let other = sent_back(&sessions.start(ann(), None).expect("started"));
        sessions.revoke(&sessions.of(&headers).expect("signed in")).expect("revoked");
        assert!(sessions.of(&headers).is_none());
        let again = Sessions::open(data.path(), API, false).expect("open again");
        assert!(again.of(&headers).is_none(), "the revocation was forgotten");
        assert!(again.of(&other).is_some(), "another session ended with it");
    }

    #[test]
    fn a_changed_or_foreign_cookie_is_rejected() {
        let (data, elsewhere) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let sessions = Sessions::open(data.path(), API, false).expect("open");
        let foreign = Sessions::open(elsewhere.path(), API, false).expect("open").start(ann(), None).expect("started");
        let foreign = foreign.to_str().expect("ascii").split_once('=').expect("a pair").1.to_owned();
        for value in ["", "{}", r#"{"id":"x","user":"root","ends":99999999999}"#, &foreign] {
            let headers = sent_back(&format!("{}={value}", sessions.cookie).parse().expect("ascii"));
            assert!(sessions.of(&headers).is_none(), "{value}");
        }
    }

    #[test]
    fn a_session_of_one_api_is_rejected_by_another() {
        let data = tempfile::tempdir().expect("a directory");
        let first = Sessions::open(data.path(), API, false).expect("open");
        let headers = sent_back(&first.start(ann(), None).expect("started"));
        let second = Sessions::open(data.path(), "https://10.0.0.2:6443/", false).expect("open");
        assert!(first.of(&headers).is_some() && second.of(&headers).is_none());
        let renamed = headers[header::COOKIE].to_str().expect("ascii").replace(&first.cookie, &second.cookie);
        assert!(
            second.of(&sent_back(&renamed.parse().expect("ascii"))).is_none(),
            "accepted under the other API's cookie name"
        );
    }

    #[test]
    fn with_https_the_cookie_is_host_bound_and_secure() {
        let data = tempfile::tempdir().expect("a directory");
        let plain = Sessions::open(data.path(), API, false).expect("open").start(ann(), None).expect("started");
        let plain = plain.to_str().expect("ascii");
        assert!(plain.contains("HttpOnly") && plain.contains("SameSite=Lax") && plain.contains("Path=/"), "{plain}");
        assert!(!plain.contains("Secure") && !plain.contains("Domain"), "{plain}");
        let secure = Sessions::open(data.path(), API, true).expect("open").start(ann(), None).expect("started");
        let secure = secure.to_str().expect("ascii");
        assert!(secure.starts_with("__Host-") && secure.contains("Secure"), "{secure}");
    }

    #[test]
    fn a_token_too_long_for_a_cookie_is_refused() {
        let data = tempfile::tempdir().expect("a directory");
        let sessions = Sessions::open(data.path(), API, true).expect("open");
        let user = User { name: "ann".into(), token: Some("t".repeat(5000)) };
        assert!(matches!(sessions.start(user, None), Err(SessionError::TooLong(_))));
    }
}
