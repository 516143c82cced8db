//! The log: to standard error, as text for people or as JSON for collectors.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// What is logged unless RUST_LOG says otherwise: ours, and libraries when something is wrong. A target is a prefix, so this
/// names all our crates.
const DEFAULT: &str = "warn,kubeonkube=info";

/// Starts logging. Call once.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    match format {
        LogFormat::Text => log.with_target(false).with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
