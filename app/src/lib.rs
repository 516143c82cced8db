//! The pages of the console: rendered on the server, made live in the browser by the same code.
//!
//! Pages know [`api`] and nothing behind it. The binary puts [`api::Backend`], [`session::Session`], [`Assets`], [`Theme`]
//! and the page's nonce into Leptos context, and [`FormReturn`] or [`FormAnswer`] where a form was submitted without JavaScript.
#![recursion_limit = "512"]
#![allow(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    reason = "components own their props, and a server function is async in the browser"
)]
#![expect(unreachable_pub, reason = "`#[component]` repeats a component's `pub` on a function inside it")]

mod app;
pub mod chunks;
pub mod clusters;
mod failure;
pub mod form;
mod json;
mod keyboard;
mod layout;
pub mod live;
pub mod login;
mod not_found;
pub mod operations;
mod piece;
mod preferences;
pub mod redirect;
mod respond;
pub mod routes;
pub mod run;
pub mod session;
mod settings;
mod shell;
pub mod ui;
mod wait;
mod words;

pub use app::App;
pub use failure::Failure;
pub use form::{FormAnswer, FormReturn};
pub use preferences::Theme;
pub use shell::{Assets, shell};

/// Below this path hang all server functions.
pub const PREFIX: &str = "/api";
