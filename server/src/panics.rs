//! Logs and counts panics. A panic is a bug of the server. It ends one request, which gets a 500, or one task; the server continues.

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};

/// In the extensions of the response to a request that panicked.
#[derive(Debug, Clone, Copy)]
pub struct Panicked;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Every panic of this process is logged and counted from now on. Call once, when the log has started.
pub fn watch() {
    panic::set_hook(Box::new(|panic| {
        let panics = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let why = panic.payload_as_str().unwrap_or("unknown");
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        tracing::error!(why, at, thread, panics, "the server panicked; please report this bug");
    }));
}

/// The panics of this process so far.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}
