//! Who is signed in. A session is an encrypted cookie. It survives restarts of the server, ends after 12 hours, and can be
//! revoked.
//!
//! Standalone, people sign in with a one-time link. In a cluster they sign in with their own Kubernetes token, which the
//! cookie contains (encrypted) and which the cluster checks again every 30 seconds. If they sign in at an OIDC provider, their token is the
//! provider's ID token, which the server keeps and renews.

mod checked;
#[cfg(test)]
#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod error;
mod held;
mod key;
pub(crate) mod links;
mod review;
mod revoked;
mod sessions;
mod sign_in;
mod token_check;

pub use checked::RECHECK_AFTER;
pub use error::SessionError;
pub use links::Links;
pub use review::Reviewer;
pub(crate) use review::TokenReviews;
pub use sessions::{LASTS, Renewal, Session, Sessions};
pub use sign_in::SignIn;
pub(crate) use token_check::Ended;
