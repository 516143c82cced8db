//! The two ways to sign in.

use std::sync::Arc;

use super::{Links, Reviewer};

pub enum SignIn {
    /// Standalone: with a one-time link, printed in the terminal.
    Links(Links),
    /// In a cluster: with the person's own Kubernetes token.
    Tokens(Arc<dyn Reviewer>),
}
