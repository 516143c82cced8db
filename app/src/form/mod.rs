//! Forms that work with and without JavaScript.
//!
//! Without JavaScript, the browser posts to the page's own URL. The binary runs the server function named by the field `form`
//! and renders the page again, with [`FormReturn`] (refused) or [`FormAnswer`] (a review) in its context. Success redirects.
//!
//! With JavaScript, [`Form`] calls the same function by fetch and writes the same two values into the same signals, so a page
//! is written only once. The fields keep what was typed in both cases.

#[cfg(feature = "hydrate")]
mod browser;
mod field;
mod form_component;
mod scope;
mod submission;
mod unsaved;

pub use field::{Check, Field, FileField, Select, TextArea};
pub use form_component::{Form, FormEnd, Submit, endpoint, field_of, is_typed};
pub use scope::FormScope;
pub(crate) use submission::without_secrets;
pub use submission::{FormAnswer, FormReturn, Submission};
pub use unsaved::guard_unsaved;
#[cfg(feature = "hydrate")]
pub(crate) use unsaved::{has_typed_text, listen_before_the_router};
