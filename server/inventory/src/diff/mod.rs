//! What a change does, line by line and in words.

mod lines;
mod summary;

pub use lines::lines;
pub use summary::{summary, summary_of_vars};
