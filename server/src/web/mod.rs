//! Everything that answers HTTP requests.
//!
//! A request passes the layers in [`guard`] (headers, origin, session) and then reaches one handler, chosen by [`router`].
//! Handlers share one [`Web`].

pub mod assets;
mod compression;
mod download;
mod forms;
mod guard;
pub(crate) mod health;
mod kubeconfig;
mod live;
mod oidc;
pub mod origin;
pub mod pages;
mod problem;
pub mod readiness;
pub mod router;
mod sign_in;
mod state;
mod wanted;

pub use state::{Handler, Pages, Web};
