//! Forms that work without JavaScript, and better with it.
//!
//! Without: the browser posts to the page's own URL, the binary runs the server function that the field `form` names, and
//! renders the page again with [`FormReturn`] (refused) or [`FormAnswer`] (a review) in its context; success redirects.
//! With: [`Form`] calls the same function by fetch and puts the same two values into the same signals, so a page is
//! written once. What was typed stays in its fields either way.

#[cfg(feature = "hydrate")]
mod browser;
mod field;
mod form_component;
mod scope;
mod submission;

pub use field::{Check, Field, FileField, Select, TextArea};
pub use form_component::{Form, FormEnd, Submit, endpoint};
pub use scope::FormScope;
pub(crate) use submission::without_secrets;
pub use submission::{FormAnswer, FormReturn, Submission};
