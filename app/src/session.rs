//! The signed-in user. The binary determines it before a page or server function runs.

use api::User;

/// The signed-in user of this request. The binary provides it as context.
#[derive(Debug, Clone)]
pub struct Session(pub Option<User>);

/// The first step of every server function: the user and the backend, or [`api::Problem::SignedOut`].
#[cfg(feature = "ssr")]
pub fn signed_in() -> Result<(User, api::Backend), crate::Failure> {
    use leptos::prelude::use_context;
    let user = use_context::<Session>().and_then(|session| session.0).ok_or(api::Problem::SignedOut)?;
    // A missing backend is a bug in the router, not the user's fault.
    let backend = use_context::<api::Backend>().ok_or(api::Problem::Internal)?;
    Ok((user, backend))
}
