//! The tabs beside the log: hosts, results and inputs, and the bar that switches between them.

pub(super) mod hosts;
pub(super) mod inputs;
pub(super) mod outcomes;
pub(super) mod tab_bar;
