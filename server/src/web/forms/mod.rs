//! Forms that work without JavaScript: a `POST` to a page's own address runs the server function that the field `form` names.
//!
//! After a successful mutation the response is a redirect. A refused form renders the same page again, with the refusal's
//! status and everything that was typed. A function that answers data (a review) renders the page again with that answer.

pub(super) mod body;
mod held;
mod post;
mod same_page;

pub(super) use held::hold;
pub(super) use post::post;
