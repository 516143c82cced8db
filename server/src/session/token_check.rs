//! A session in a cluster is valid only while the cluster accepts its token. The cluster is asked again every
//! [`super::RECHECK_AFTER`].

use std::time::Duration;

use tokio::time::{sleep_until, timeout};

use super::SignIn;
use super::checked::Checked;
use super::sessions::{Session, Sessions};

/// How long the cluster may take to answer. Without an answer the session stays valid: the cluster also checks the token
/// at every use.
const PATIENCE: Duration = Duration::from_secs(5);

/// In the extensions of a request whose session has just ended because the cluster no longer accepts its token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenRevoked;

/// A check that waits for its answer. If the request is dropped before the answer comes, the next request checks again.
struct Check<'a> {
    checked: &'a Checked,
    id: &'a str,
    answered: bool,
}

impl Drop for Check<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.checked.forget(self.id);
        }
    }
}

impl Sessions {
    /// Whether `session` may still be used. Asks the cluster if the last check of its token is older than [`super::RECHECK_AFTER`].
    /// If the cluster rejects the token, the session is revoked, which also closes its sockets.
    ///
    /// A session of the wrong kind is always rejected: a token without any rights must not open a standalone console.
    pub(crate) async fn is_valid(&self, session: &Session, sign_in: &SignIn) -> bool {
        let (reviewer, token) = match (sign_in, &session.user.token) {
            (SignIn::Links(_), None) => return true,
            (SignIn::Tokens(reviewer), Some(token)) => (reviewer, token),
            (SignIn::Links(_), Some(_)) | (SignIn::Tokens(_), None) => return false,
        };
        if !self.checked.is_due(&session.id) {
            return true;
        }
        let mut check = Check { checked: &self.checked, id: &session.id, answered: false };
        let answer = timeout(PATIENCE, reviewer.review(token)).await;
        check.answered = true;
        let Ok(Ok(None)) = answer else { return true };
        tracing::info!(user = session.user.name, "signed out: the cluster no longer accepts the token");
        if let Err(error) = self.revoke(session) {
            tracing::error!(%error, "the session ended, but a restart of the server would restore it");
        }
        false
    }

    /// Makes the next request check the token again, however recent the last check is.
    pub(crate) fn recheck(&self, session: &Session) {
        self.checked.forget(&session.id);
    }

    /// Resolves when `session` ends, for whatever reason. Open sockets and downloads wait for this.
    pub(crate) async fn ended(&self, session: &Session, sign_in: &SignIn) {
        let rejected = async {
            while self.is_valid(session, sign_in).await {
                sleep_until(self.checked.due_at(&session.id)).await;
            }
        };
        tokio::select! {
            () = self.revoked_or_expired(session) => {}
            () = rejected => {}
        }
    }
}
