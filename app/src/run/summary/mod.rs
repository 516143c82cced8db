//! The run in a few words: the sentence of its phase, its results in numbers, and the reason of a failure.

#[cfg(feature = "ssr")]
pub(super) mod cause;
#[cfg(feature = "ssr")]
pub(super) mod failure;
pub(super) mod reason;
pub(super) mod reason_alert;
pub(super) mod sentences;
pub(super) mod totals;
pub(super) mod watch_panel;
