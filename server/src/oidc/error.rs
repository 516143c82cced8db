//! Why a sign-in at the provider fails. The texts are shown on the sign-in page, and never contain a token.

/// Why a sign-in fails.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum OidcError {
    #[error("{name} can't be reached: {why}. Try again in a moment, or sign in with a Kubernetes token.")]
    Unreachable { name: String, why: String },
    #[error("{name} is not set up as this console expects: {why}. Ask the administrator of the console.")]
    Mismatch { name: String, why: String },
    #[error("{name} did not accept the sign-in ({code}). Sign in again.")]
    Refused { name: String, code: String },
    #[error("The client secret of {0} can't be read on the server. Ask the administrator of the console.")]
    Secret(String),
}

/// Why a session isn't renewed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RenewError {
    /// For good: the person has to sign in again.
    #[error("the provider refused: {0}")]
    Refused(String),
    /// A later attempt may succeed.
    #[error(transparent)]
    Failed(#[from] OidcError),
}
