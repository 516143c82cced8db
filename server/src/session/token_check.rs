//! A session in a cluster is valid only while the cluster accepts its token. The cluster is asked again every
//! [`super::RECHECK_AFTER`].

use std::time::Duration;

use tokio::time::{sleep_until, timeout};

use super::checked::Checked;
use super::held::{Over, RENEW_BEFORE};
use super::sessions::{Renewal, Session, Sessions, now};
use super::{Reviewer, SignIn};
use crate::oidc::Tokens;

/// How long the cluster may take to answer. Without an answer the session stays valid: the cluster also checks the token
/// at every use.
const REVIEW_WITHIN: Duration = Duration::from_secs(5);

/// Why a session can't be used any more. In the extensions of the request that found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The cluster no longer accepts its token, or it is of another way of signing in.
    Token,
    /// The OIDC provider does not renew it.
    Renewal,
    /// Its token has expired, and the OIDC provider can't be reached.
    Unreachable,
}

/// A check that waits for its answer. If the request is dropped before the answer comes, the next request checks again.
struct Check<'a> {
    checked: &'a Checked,
    id: String,
    answered: bool,
}

impl Drop for Check<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.checked.forget(&self.id);
        }
    }
}

/// Whether the cluster accepts the session's token, or doesn't answer.
async fn accepts(reviewer: &dyn Reviewer, session: &Session) -> bool {
    let token = session.user.token.as_deref().unwrap_or_default();
    match timeout(REVIEW_WITHIN, reviewer.review(token)).await {
        Ok(Ok(None)) => false,
        // A renewed token must still be this person's.
        Ok(Ok(Some((user, _)))) => session.renewal.is_none() || user.name == session.user.name,
        Ok(Err(_)) | Err(_) => true,
    }
}

fn about_to_expire(session: &Session) -> bool {
    session.renewal.is_some_and(|Renewal { expires, .. }| expires <= now() + RENEW_BEFORE)
}

impl Sessions {
    /// The session if it may still be used, with its present token. Asks the cluster if the last check of the token is older than
    /// [`super::RECHECK_AFTER`]. If the cluster rejects the token, the session is revoked, which also closes its sockets. A token of
    /// an OIDC provider is renewed before it expires, and once more if the cluster rejects it at its end.
    ///
    /// A session of the wrong kind is always rejected: a token without any rights must not open a standalone console.
    pub(crate) async fn current(&self, session: Session, sign_in: &SignIn) -> Result<Session, Ended> {
        let reviewer = match (sign_in, &session.user.token) {
            (SignIn::Links(_), None) => return Ok(session),
            (SignIn::Tokens(reviewer), Some(_)) => reviewer,
            (SignIn::Links(_), Some(_)) | (SignIn::Tokens(_), None) => return Err(Ended::Token),
        };
        let session = if session.renewal.is_some() { self.renewed(session).await? } else { session };
        if !self.checked.is_due(&session.id) {
            return Ok(session);
        }
        let mut check = Check { checked: &self.checked, id: session.id.clone(), answered: false };
        let accepted = accepts(&**reviewer, &session).await;
        check.answered = true;
        if accepted {
            return Ok(session);
        }
        // It may have expired just now, or the cluster's clock is ahead. Then the provider decides, and after it the cluster.
        let session = if about_to_expire(&session) {
            check.answered = false;
            let session = self.replaced(session).await?;
            let accepted = accepts(&**reviewer, &session).await;
            check.answered = true;
            if accepted {
                return Ok(session);
            }
            session
        } else {
            session
        };
        tracing::info!(user = session.user.name, "signed out: the cluster no longer accepts the token");
        self.end(&session);
        Err(Ended::Token)
    }

    async fn renewed(&self, session: Session) -> Result<Session, Ended> {
        let found = self.held.current(&session.id).await;
        self.holding(session, found)
    }

    /// The session with a new token in place of one that the cluster rejects.
    async fn replaced(&self, session: Session) -> Result<Session, Ended> {
        let found = self.held.replace(&session.id, session.user.token.as_deref().unwrap_or_default()).await;
        self.holding(session, found)
    }

    fn holding(&self, session: Session, found: Result<Tokens, Over>) -> Result<Session, Ended> {
        match found {
            Ok(tokens) => {
                if session.user.token.as_ref() != Some(&tokens.id_token) {
                    self.recheck(&session);
                }
                Ok(session.with(tokens))
            }
            Err(Over::Gone) => Err(Ended::Token),
            Err(Over::Unreachable) => Err(Ended::Unreachable),
            Err(Over::Refused) => {
                tracing::info!(user = session.user.name, "signed out: the provider does not renew the session");
                self.end(&session);
                Err(Ended::Renewal)
            }
        }
    }

    fn end(&self, session: &Session) {
        if let Err(error) = self.revoke(session) {
            tracing::error!(%error, "the session ended, but until this is stored, a restart of the server would restore it");
        }
    }

    /// Makes the next request check the token again, however recent the last check is.
    pub(crate) fn recheck(&self, session: &Session) {
        self.checked.forget(&session.id);
    }

    /// Resolves when `session` ends, for whatever reason. Open sockets and downloads wait for this.
    pub(crate) async fn ended(&self, session: &Session, sign_in: &SignIn) {
        let rejected = async {
            let mut current = session.clone();
            while let Ok(next) = self.current(current, sign_in).await {
                sleep_until(self.checked.due_at(&session.id)).await;
                current = next;
            }
        };
        tokio::select! {
            () = self.revoked_or_expired(session) => {}
            () = rejected => {}
        }
    }
}
