//! Tokens that the cluster takes back: a session ends with its token, also before the token says that it ends.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until, timeout};

use super::{Session, page::SignIn};
use crate::router::Web;

/// How long the cluster's word about a token is believed.
pub const BELIEVED: Duration = Duration::from_secs(30);

/// How long the cluster may take to answer. Whoever is signed in stays so meanwhile: it also checks each use of the token.
const PATIENCE: Duration = Duration::from_secs(5);

/// Beyond this many sessions, all are asked about anew.
const REMEMBERED: usize = 4096;

/// In the extensions of a request whose session has just ended this way.
#[derive(Debug, Clone, Copy)]
pub struct TakenBack;

/// Session id → when its token was last asked about.
#[derive(Default)]
pub(super) struct Asked(Mutex<HashMap<String, Instant>>);

impl Asked {
    /// Whether it is time to ask again. Of those who come at once, one is told so.
    fn is_due(&self, id: &str) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.get(id).is_some_and(|at| at.elapsed() < BELIEVED) {
            return false;
        }
        if asked.len() >= REMEMBERED {
            asked.clear();
        }
        asked.insert(id.to_owned(), Instant::now());
        true
    }

    fn forget(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Until when the last word is believed.
    fn until(&self, id: &str) -> Instant {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(id).copied().unwrap_or_else(Instant::now) + BELIEVED
    }
}

/// A question whose asker may go away before the answer: then nothing was said that could be believed.
struct Asking<'a> {
    asked: &'a Asked,
    id: &'a str,
    answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.asked.forget(self.id);
        }
    }
}

impl Web {
    /// Whether the token behind `session` is still accepted; asks the cluster where its last word is older than [`BELIEVED`].
    /// If not, the session is revoked: its sockets close too. Sessions of links stand by themselves. One of the other kind never
    /// does: what `Sessions` opens is of this kind, and were it not, a token without rights would open a standalone console.
    pub(crate) async fn stands(&self, session: &Session) -> bool {
        let (reviewer, token) = match (&self.sign_in, &session.user.token) {
            (SignIn::Links(_), None) => return true,
            (SignIn::Tokens(reviewer), Some(token)) => (reviewer, token),
            (SignIn::Links(_), Some(_)) | (SignIn::Tokens(_), None) => return false,
        };
        if !self.sessions.asked.is_due(&session.id) {
            return true;
        }
        let mut asking = Asking { asked: &self.sessions.asked, id: &session.id, answered: false };
        let answer = timeout(PATIENCE, reviewer.review(token)).await;
        asking.answered = true;
        let Ok(Ok(None)) = answer else { return true };
        tracing::info!(user = session.user.name, "signed out: the cluster doesn't accept the token any more");
        if let Err(error) = self.sessions.revoke(session) {
            tracing::error!(%error, "the end of a session would not survive a restart");
        }
        false
    }

    /// The cluster has just refused the session's token: the next request asks about it, however short ago that was.
    pub(crate) fn doubt(&self, session: &Session) {
        self.sessions.asked.forget(&session.id);
    }

    /// Resolves when `session` is over, whatever ends it. Open sockets and downloads wait for this.
    pub(crate) async fn over(&self, session: &Session) {
        let taken_back = async {
            while self.stands(session).await {
                sleep_until(self.sessions.asked.until(&session.id)).await;
            }
        };
        tokio::select! {
            () = self.sessions.ended(session) => {}
            () = taken_back => {}
        }
    }
}
