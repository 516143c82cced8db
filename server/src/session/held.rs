//! The tokens of sessions that began at an OIDC provider.
//!
//! They are kept on the server and not in the cookie, for two reasons. An ID token with groups and a refresh token are often too long for
//! a cookie. And many providers replace the refresh token at each use: with cookies, two requests at the same time would use the old one
//! twice, which ends the session at the provider. The file of a session is encrypted with the key of the cookies.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cookie::{Cookie, CookieJar, Key};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::sessions::{LASTS, now};
use crate::oidc::{Provider, RenewError, Tokens};

/// Tokens are renewed when this time is left, or a third of their lifetime if that is shorter.
pub(super) const RENEW_BEFORE: u64 = 60;

/// The pause after a renewal that failed and may succeed later.
const PAUSE: Duration = Duration::from_secs(5);

/// The tokens of all sessions.
pub(super) struct Held {
    folder: PathBuf,
    key: Key,
    list: Mutex<HashMap<String, Arc<Entry>>>,
    /// `None` if the server was started without a provider: no token is renewed then.
    provider: Option<Arc<dyn Provider>>,
}

struct Entry {
    tokens: Mutex<Tokens>,
    /// One renewal at a time; holds how the last one ended.
    renewing: tokio::sync::Mutex<Last>,
}

/// How the last renewal ended.
#[derive(Default)]
enum Last {
    #[default]
    Renewed,
    Failed(Instant),
    /// The refresh token must not be sent again.
    Refused,
}

/// Why the tokens of a session can't be used any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// For good.
    Refused,
    /// They have expired, and the provider can't be reached now.
    Unreachable,
    /// There are none: the session was signed out.
    Gone,
}

impl Tokens {
    /// When they should be renewed, in seconds since the epoch.
    pub(crate) fn renew_at(&self) -> u64 {
        let lifetime = self.expires.saturating_sub(self.received);
        self.expires.saturating_sub(RENEW_BEFORE.min(lifetime / 3))
    }
}

impl Held {
    pub(super) fn open(data: &Path, key: Key) -> Self {
        let held = Self { folder: data.join("oidc"), key, list: Mutex::default(), provider: None };
        held.remove_old();
        held
    }

    pub(super) fn use_provider(&mut self, provider: Arc<dyn Provider>) {
        self.provider = Some(provider);
    }

    /// Keeps the tokens of a new session. If they can't be stored, a restart of the server ends the session.
    pub(super) fn add(&self, id: &str, tokens: Tokens) {
        self.remove_old();
        self.store(id, &tokens);
        self.list.lock().insert(id.to_owned(), Arc::new(Entry::new(tokens)));
    }

    pub(super) fn get(&self, id: &str) -> Option<Tokens> {
        Some(self.entry(id)?.tokens.lock().clone())
    }

    pub(super) fn remove(&self, id: &str) {
        // Locked until the file is gone: a request must not read it back into the list.
        let mut list = self.list.lock();
        list.remove(id);
        let _ = fs::remove_file(self.file(id));
    }

    /// The tokens, renewed if that is due.
    pub(super) async fn current(self: &Arc<Self>, id: &str) -> Result<Tokens, Over> {
        let entry = self.entry(id).ok_or(Over::Gone)?;
        let tokens = entry.tokens.lock().clone();
        let has_expired = |tokens: &Tokens| tokens.expires <= now();
        let provider = self.provider.clone().filter(|_| tokens.refresh_token.is_some());
        let Some(provider) = provider else {
            return if has_expired(&tokens) { Err(Over::Refused) } else { Ok(tokens) };
        };
        if now() < tokens.renew_at() {
            return Ok(tokens);
        }
        match self.renewed(id, entry, provider, None).await {
            Err(Over::Unreachable) if !has_expired(&tokens) => Ok(tokens),
            renewed => renewed,
        }
    }

    /// Other tokens than the one that the cluster rejects.
    pub(super) async fn replace(self: &Arc<Self>, id: &str, rejected: &str) -> Result<Tokens, Over> {
        let entry = self.entry(id).ok_or(Over::Gone)?;
        let can_renew = entry.tokens.lock().refresh_token.is_some();
        let provider = self.provider.clone().filter(|_| can_renew).ok_or(Over::Refused)?;
        self.renewed(id, entry, provider, Some(rejected.to_owned())).await
    }

    /// In a task of its own: if the request is dropped halfway, the provider may have replaced the refresh token already.
    async fn renewed(
        self: &Arc<Self>,
        id: &str,
        entry: Arc<Entry>,
        provider: Arc<dyn Provider>,
        rejected: Option<String>,
    ) -> Result<Tokens, Over> {
        let (held, id) = (self.clone(), id.to_owned());
        let task = async move { held.renew(&id, &entry, &*provider, rejected.as_deref()).await };
        tokio::spawn(task).await.unwrap_or(Err(Over::Unreachable))
    }

    /// Renews tokens that are due, or that contain the `rejected` one.
    async fn renew(
        &self,
        id: &str,
        entry: &Entry,
        provider: &dyn Provider,
        rejected: Option<&str>,
    ) -> Result<Tokens, Over> {
        let mut last = entry.renewing.lock().await;
        let old = entry.tokens.lock().clone();
        // Another request was faster.
        if rejected.map_or_else(|| now() < old.renew_at(), |token| old.id_token != token) {
            return Ok(old);
        }
        match &*last {
            Last::Refused => return Err(Over::Refused),
            Last::Failed(at) if at.elapsed() < PAUSE => return Err(Over::Unreachable),
            Last::Failed(_) | Last::Renewed => {}
        }
        match provider.renew(&old).await {
            Ok(new) => {
                *last = Last::Renewed;
                self.remove_old();
                let list = self.list.lock();
                // Signed out meanwhile: its file must not come back.
                if !list.contains_key(id) {
                    return Err(Over::Gone);
                }
                entry.tokens.lock().clone_from(&new);
                self.store(id, &new);
                Ok(new)
            }
            Err(RenewError::Refused(why)) => {
                tracing::info!(provider = provider.name(), why, "a session was not renewed");
                *last = Last::Refused;
                Err(Over::Refused)
            }
            Err(RenewError::Failed(error)) => {
                tracing::warn!(%error, "a session could not be renewed now");
                *last = Last::Failed(Instant::now());
                Err(Over::Unreachable)
            }
        }
    }

    /// From memory, or after a restart from its file.
    fn entry(&self, id: &str) -> Option<Arc<Entry>> {
        let mut list = self.list.lock();
        if let Some(entry) = list.get(id) {
            return Some(entry.clone());
        }
        let file = self.file(id);
        let mut jar = CookieJar::new();
        jar.add_original(Cookie::new(name(id), fs::read_to_string(file).ok()?));
        let opened = jar.private(&self.key).get(&name(id))?;
        let entry = Arc::new(Entry::new(serde_json::from_str(opened.value()).ok()?));
        list.insert(id.to_owned(), entry.clone());
        Some(entry)
    }

    fn store(&self, id: &str, tokens: &Tokens) {
        let mut jar = CookieJar::new();
        let text = serde_json::to_string(tokens).expect("strings and numbers");
        jar.private_mut(&self.key).add(Cookie::new(name(id), text));
        let sealed = jar.get(&name(id)).expect("just added").value().to_owned();
        // Not at the start: a server on a full disk must start.
        let folder = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        if let Err(error) = folder.and_then(|()| disk::save(&self.file(id), sealed.as_bytes())) {
            tracing::warn!(%error, "the tokens of a session could not be stored: a restart of the server ends the session");
        }
    }

    /// Removes sessions that have ended. A session lasts at most [`LASTS`], and a renewal touches its file.
    fn remove_old(&self) {
        let is_old = |path: &Path| {
            let changed = fs::metadata(path).and_then(|meta| meta.modified());
            changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LASTS))
        };
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| is_old(path)).for_each(|path| drop(fs::remove_file(path)));
        let oldest = now().saturating_sub(LASTS.as_secs());
        self.list.lock().retain(|_, entry| entry.tokens.lock().expires > oldest);
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(name(id))
    }
}

impl Entry {
    fn new(tokens: Tokens) -> Self {
        Self { tokens: Mutex::new(tokens), renewing: tokio::sync::Mutex::default() }
    }
}

/// The name of a session's file. It doesn't reveal the session's id.
fn name(id: &str) -> String {
    Sha256::digest(id).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::oidc::{OidcError, Started};

    /// Gives tokens that are numbered, and refuses a refresh token that was used before.
    #[derive(Default)]
    struct Rotating {
        renewals: AtomicUsize,
        is_down: bool,
    }

    #[async_trait]
    impl Provider for Rotating {
        fn name(&self) -> &'static str {
            "Test"
        }

        async fn start(&self) -> Result<Started, OidcError> {
            unreachable!("only renewals are tested")
        }

        async fn finish(&self, _: &str, _: &str, _: &str) -> Result<Tokens, OidcError> {
            unreachable!("only renewals are tested")
        }

        async fn renew(&self, old: &Tokens) -> Result<Tokens, RenewError> {
            if self.is_down {
                let error = OidcError::Unreachable { name: "Test".into(), why: "it is down".into() };
                return Err(RenewError::Failed(error));
            }
            tokio::task::yield_now().await;
            let number = self.renewals.fetch_add(1, Ordering::SeqCst);
            if old.refresh_token != Some(format!("refresh-{number}")) {
                return Err(RenewError::Refused("invalid_grant".into()));
            }
            Ok(tokens(number + 1, 300))
        }

        async fn sign_out_page(&self) -> Option<String> {
            None
        }
    }

    fn tokens(number: usize, left: u64) -> Tokens {
        let (id_token, refresh_token) = (format!("id-{number}"), Some(format!("refresh-{number}")));
        Tokens { id_token, refresh_token, received: now() + left - 300, expires: now() + left }
    }

    fn held(data: &Path, provider: Rotating) -> Arc<Held> {
        let mut held = Held::open(data, Key::from(&[7; 64]));
        held.use_provider(Arc::new(provider));
        Arc::new(held)
    }

    #[tokio::test]
    async fn simultaneous_requests_use_a_refresh_token_once() {
        let data = tempfile::tempdir().expect("a directory");
        let held = held(data.path(), Rotating::default());
        held.add("ann", tokens(0, 10));
        let all = (0..20).map(|_| held.current("ann"));
        for answer in futures::future::join_all(all).await {
            assert_eq!(answer.map(|tokens| tokens.id_token), Ok("id-1".into()));
        }
    }

    #[tokio::test]
    async fn a_refused_refresh_token_is_sent_once() {
        let data = tempfile::tempdir().expect("a directory");
        let provider = Arc::new(Rotating::default());
        let mut held = Held::open(data.path(), Key::from(&[7; 64]));
        held.use_provider(provider.clone());
        let held = Arc::new(held);
        held.add("ann", tokens(5, 10));
        let all = (0..20).map(|_| held.current("ann"));
        for answer in futures::future::join_all(all).await {
            assert_eq!(answer.err(), Some(Over::Refused));
        }
        assert_eq!(provider.renewals.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_rejected_token_is_replaced_before_it_is_due() {
        let data = tempfile::tempdir().expect("a directory");
        let held = held(data.path(), Rotating::default());
        held.add("ann", tokens(0, 300));
        let all = (0..20).map(|_| held.replace("ann", "id-0"));
        for answer in futures::future::join_all(all).await {
            assert_eq!(answer.map(|tokens| tokens.id_token), Ok("id-1".into()));
        }
    }

    #[tokio::test]
    async fn renewed_tokens_survive_a_restart_and_are_encrypted() {
        let data = tempfile::tempdir().expect("a directory");
        let first = held(data.path(), Rotating::default());
        first.add("ann", tokens(0, 10));
        first.current("ann").await.expect("renewed");
        assert_eq!(held(data.path(), Rotating::default()).get("ann").expect("kept").id_token, "id-1");
        let other = Held::open(data.path(), Key::from(&[8; 64]));
        assert!(other.get("ann").is_none());
        let file = fs::read_to_string(first.file("ann")).expect("a file");
        assert!(!file.contains("id-1") && !file.contains("refresh"), "{file}");
        first.remove("ann");
        assert!(held(data.path(), Rotating::default()).get("ann").is_none(), "signed out");
    }

    #[tokio::test]
    async fn a_refusal_ends_a_session_and_no_answer_only_an_old_token() {
        let data = tempfile::tempdir().expect("a directory");
        let refusing = held(data.path(), Rotating::default());
        refusing.add("ann", tokens(5, 10));
        assert_eq!(refusing.current("ann").await.err(), Some(Over::Refused));
        let down = held(data.path(), Rotating { is_down: true, ..Rotating::default() });
        down.add("bob", tokens(0, 10));
        assert_eq!(down.current("bob").await.map(|tokens| tokens.id_token), Ok("id-0".into()));
        down.add("eve", tokens(0, 0));
        assert_eq!(down.current("eve").await.err(), Some(Over::Unreachable));
        assert_eq!(down.current("nobody").await.err(), Some(Over::Gone));
    }

    #[tokio::test]
    async fn without_a_refresh_token_the_session_ends_with_its_token() {
        let data = tempfile::tempdir().expect("a directory");
        let held = held(data.path(), Rotating::default());
        held.add("ann", Tokens { refresh_token: None, ..tokens(0, 10) });
        assert!(held.current("ann").await.is_ok());
        held.add("bob", Tokens { refresh_token: None, ..tokens(0, 0) });
        assert_eq!(held.current("bob").await.err(), Some(Over::Refused));
    }
}
