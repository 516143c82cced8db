//! The pages of the console. The server renders them, and the same code hydrates them in the browser.
//!
//! Pages use the traits and view models of [`api`], never their implementations. The binary puts [`api::Backend`],
//! [`session::Session`], [`Assets`], [`Theme`] and the page's nonce into Leptos context. Where a form was submitted without
//! JavaScript, it also puts [`FormReturn`] or [`FormAnswer`] there.
#![recursion_limit = "512"]
#![allow(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    reason = "components own their props, and a server function is async in the browser"
)]
#![expect(unreachable_pub, reason = "`#[component]` repeats a component's `pub` on a function inside it")]

mod app;
mod click;
mod clusters;
mod failure;
mod form;
#[cfg(feature = "hydrate")]
mod hydrate;
mod json;
mod keyboard;
mod layout;
mod live;
pub mod login;
mod not_found;
mod operations;
mod pages;
mod preferences;
pub mod redirect;
mod respond;
mod routes;
mod run;
pub mod session;
mod settings;
mod shell;
mod ui;
mod wait;
mod wasm_size;
mod watch;
mod words;

pub use app::App;
pub use failure::Failure;
pub use form::{FormAnswer, FormReturn};
#[cfg(feature = "hydrate")]
pub use hydrate::hydrate;
pub use preferences::Theme;
pub use shell::{Assets, shell};

/// The path below which all server functions are served.
pub const PREFIX: &str = "/api";
