//! The run in a few words: the sentence of its phase, its results in numbers, and the reason of a failure.

pub(super) mod reason;
pub(super) mod sentences;
pub(super) mod totals;
