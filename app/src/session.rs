//! Who is signed in, as the binary found out before the page or function runs.

use api::User;

/// The signed-in person of this request, put into context by the binary.
#[derive(Debug, Clone)]
pub struct Session(pub Option<User>);

/// The first move of every server function: the person and what they may call, or [`api::Problem::SignedOut`].
#[cfg(feature = "ssr")]
pub fn signed_in() -> Result<(User, api::Backend), crate::Failure> {
    use leptos::prelude::use_context;
    let user = use_context::<Session>().and_then(|session| session.0).ok_or(api::Problem::SignedOut)?;
    // A request without a backend in its context is a mistake in the router, not of the person.
    let backend = use_context::<api::Backend>().ok_or(api::Problem::Internal)?;
    Ok((user, backend))
}
