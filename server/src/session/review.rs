//! Sign-in with a Kubernetes token: the cluster reports its user (TokenReview).

use api::{Problem, User};
use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

/// Finds the user of a token.
#[async_trait]
pub trait Reviewer: Send + Sync {
    /// The user and, if the token contains it, the time of its expiry (seconds since the epoch). `None` if the cluster does
    /// not accept the token.
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem>;
}

/// Asks a Kubernetes API.
pub(crate) struct TokenReviews(pub(crate) Client);

#[async_trait]
impl Reviewer for TokenReviews {
    async fn review(&self, token: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        if token.is_empty() {
            return Ok(None);
        }
        let spec = TokenReviewSpec { token: Some(token.to_owned()), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let answer = Api::<TokenReview>::all(self.0.clone()).create(&PostParams::default(), &review).await;
        let status = answer.map(|review| review.status.unwrap_or_default()).map_err(|error| {
            tracing::warn!(%error, "a sign-in token could not be reviewed");
            let message = "The cluster did not check this token. Try again in a moment. If this continues, check that the \
                           console's service account may create TokenReviews.";
            Problem::Unavailable { message: message.into() }
        })?;
        let name = status.user.and_then(|user| user.username).filter(|name| !name.is_empty());
        let user = name.filter(|_| status.authenticated == Some(true));
        Ok(user.map(|name| (User { name, token: Some(token.to_owned()) }, expiry(token))))
    }
}

/// The `exp` claim of a JSON Web Token. The signature isn't verified here: the cluster did that, and does so at every use.
fn expiry(token: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Claims {
        exp: f64,
    }
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
    // RFC 7519 allows fractions. The cast saturates.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the saturated value is the intended one"
    )]
    serde_json::from_slice::<Claims>(&claims).ok().map(|claims| claims.exp as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::embedded_api;

    #[tokio::test]
    async fn a_review_reports_the_user_of_a_token() {
        let data = tempfile::tempdir().expect("a directory");
        let cluster = embedded_api::open(data.path(), crd::all()).expect("an API");
        let reviews = TokenReviews(cluster.client("kubeonkube:server"));
        let (user, _) = reviews.review(cluster.token()).await.expect("an answer").expect("accepted");
        assert_eq!((user.name.as_str(), user.token.as_deref()), (standalone::ADMIN, Some(cluster.token())));
        assert_eq!(reviews.review("guess").await, Ok(None));
        assert_eq!(reviews.review("").await, Ok(None));
        cluster.close().await;
    }

    #[test]
    fn the_expiry_of_a_token_is_read_from_it() {
        let token = |claims: &str| format!("e30.{}.c2ln", BASE64_URL_SAFE_NO_PAD.encode(claims));
        assert_eq!(expiry(&token(r#"{"exp":1800000000}"#)), Some(1_800_000_000));
        assert_eq!(expiry(&token(r#"{"sub":"ann"}"#)), None);
        assert_eq!(expiry("opaque"), None);
    }
}
