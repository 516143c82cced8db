//! The kinds that are served: twelve built-in ones, those of the installed CustomResourceDefinitions, and some without objects.
//!
//! A kind is described once, and everything else is derived from the description: the paths that are answered, the
//! discovery and OpenAPI documents, and which subresources there are. Any other kind, such as a NetworkPolicy, gets 404.

mod builtin;
mod builtin_table;
mod custom;
mod descriptor;
mod empty_table;
mod registry;
mod reviews;

pub(crate) use builtin::BuiltIn;
pub use custom::CustomError;
pub(crate) use descriptor::{Kind, Nature, group_version};
pub(crate) use registry::Kinds;
pub(crate) use reviews::{REVIEWS, Review};
