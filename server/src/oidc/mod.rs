//! Sign-in with OpenID Connect: the authorization code flow with PKCE. The ID token of the provider is then the person's Kubernetes token.
//!
//! Signatures of ID tokens are not verified here. The token comes over TLS from the provider's own token endpoint (OpenID Connect Core,
//! section 3.1.3.7, permits this), and the Kubernetes API verifies the signature before the token is used, and at every use.

mod claims;
mod client;
mod discovery;
mod error;
mod requests;

use async_trait::async_trait;
pub use client::Client;
pub use error::{OidcError, RenewError};
pub use requests::HttpError;
use serde::{Deserialize, Serialize};

/// What the provider gave for one sign-in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The person's token for the Kubernetes API.
    pub id_token: String,
    pub refresh_token: Option<String>,
    /// When the ID token was received, in seconds since the epoch.
    pub received: u64,
    /// When the ID token expires, in seconds since the epoch.
    pub expires: u64,
}

/// A sign-in that has begun. The browser keeps all of it, sealed, except for the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The page of the provider to open.
    pub url: String,
    pub state: String,
    pub nonce: String,
    pub verifier: String,
}

/// A provider of identities.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The name that people read.
    fn name(&self) -> &str;
    /// Begins a sign-in.
    async fn start(&self) -> Result<Started, OidcError>;
    /// Exchanges the code with which the browser came back.
    async fn finish(&self, code: &str, nonce: &str, verifier: &str) -> Result<Tokens, OidcError>;
    /// New tokens for tokens that expire soon. `old` must have a refresh token.
    async fn renew(&self, old: &Tokens) -> Result<Tokens, RenewError>;
    /// The page on which people sign out at the provider, if it has one.
    async fn sign_out_page(&self) -> Option<String>;
}
