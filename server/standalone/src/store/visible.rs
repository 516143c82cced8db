//! The state that readers see.

use super::history::History;
use super::index::Index;

/// Objects, history and revision. Only the writer thread changes them, all three under one lock.
#[derive(Default)]
pub(crate) struct Visible {
    pub(crate) index: Index,
    pub(crate) history: History,
    pub(crate) revision: u64,
}
