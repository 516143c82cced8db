//! The tabs beside the log: hosts, matrix, results and inputs, and the bar that switches between them.

pub(super) mod hosts;
pub(super) mod inputs;
pub(super) mod matrix;
pub(super) mod outcomes;
pub(super) mod tab_bar;
