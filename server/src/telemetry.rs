//! The log: to standard error, as text for people or as JSON for collectors.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// The default for RUST_LOG: our own messages from `info` on, those of libraries from `warn` on. A target is a prefix, so
/// `kubeonkube` covers all our crates.
const DEFAULT: &str = "warn,kubeonkube=info";

/// Starts logging. Call once.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    // A line that can't be written is dropped. To report that, the subscriber would write to the same full disk, and panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).log_internal_errors(false);
    match format {
        LogFormat::Text => log.with_target(false).with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
