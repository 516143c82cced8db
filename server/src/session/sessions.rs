//! The sessions of one data directory: made at sign-in, read from each request's cookie, revoked at sign-out.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::User;
use cookie::{Cookie, CookieJar, Key, SameSite};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};

use super::checked::Checked;
use super::revoked::Revoked;
use super::{SessionError, key, links};

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
}

/// The sessions of one data directory.
pub struct Sessions {
    key: Key,
    cookie: String,
    secure: bool,
    revoked: Revoked,
    pub(super) checked: Checked,
}

/// The content of the cookie, encrypted (AES-256-GCM, bound to the cookie's name).
#[derive(Serialize, Deserialize)]
struct Sealed {
    id: String,
    user: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    ends: u64,
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
        Ok(Self { key, cookie, secure, revoked, checked: Checked::default() })
    }

    /// Signs `user` in until `at_most` (seconds since the epoch) or for 12 hours; returns the `Set-Cookie` value.
    pub fn start(&self, user: User, at_most: Option<u64>) -> Result<HeaderValue, SessionError> {
        let ends = at_most.unwrap_or(u64::MAX).min(now() + LASTS.as_secs());
        let sealed = Sealed { id: links::random(), user: user.name, token: user.token, ends };
        let value = serde_json::to_string(&sealed).expect("strings and a number");
        let mut jar = CookieJar::new();
        jar.private_mut(&self.key).add(self.cookie(value, ends.saturating_sub(now())));
        let cookie = jar.get(&self.cookie).expect("just added").to_string();
        if cookie.len() > COOKIE_LIMIT {
            return Err(SessionError::TooLong(cookie.len()));
        }
        Ok(cookie.parse().expect("base64 and attributes"))
    }

    /// The session in these request headers, unless it has ended or was revoked.
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

    /// Signs out: the cookie and every copy of it stop working. An error means that a restart of the server would undo this.
    pub fn revoke(&self, session: &Session) -> Result<(), SessionError> {
        self.revoked.add(&session.id, session.ends)
    }

    /// The `Set-Cookie` that removes the cookie from the browser.
    pub fn removal(&self) -> HeaderValue {
        self.cookie(String::new(), 0).to_string().parse().expect("a name and attributes")
    }

    /// Resolves when the session is revoked, or at its end time.
    pub(super) async fn revoked_or_expired(&self, session: &Session) {
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
