//! Who is signed in. A session is an encrypted cookie. It survives restarts of the server, ends after 12 hours, and can be
//! revoked.
//!
//! Standalone, people sign in with a one-time link. In a cluster they sign in with their own Kubernetes token, which the
//! cookie contains (encrypted) and which the cluster checks again every 30 seconds.

mod checked;
mod error;
mod key;
pub(crate) mod links;
mod private_file;
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
pub use sessions::{LASTS, Session, Sessions};
pub use sign_in::SignIn;
pub(crate) use token_check::TokenRevoked;
