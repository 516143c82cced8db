//! One timer for all relative times of the page.

use leptos::prelude::*;

/// Milliseconds since hydration, updated once a second in the browser. 0 on the server and in the first render, so that both
/// render the same words.
#[derive(Clone, Copy)]
pub struct Clock(pub ReadSignal<i64>);

/// Puts the clock into context. Called once, by the app.
pub(crate) fn provide() {
    let (elapsed, set_elapsed) = signal(0);
    provide_context(Clock(elapsed));
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        let start = js_sys::Date::now();
        #[expect(clippy::cast_possible_truncation, reason = "a page is open for less than 2^53 ms")]
        let tick = move || {
            set_elapsed.try_set((js_sys::Date::now() - start) as i64);
        };
        if let Ok(handle) = set_interval(tick, std::time::Duration::from_secs(1)) {
            on_cleanup(move || handle.clear());
        }
    });
    #[cfg(not(feature = "hydrate"))]
    let _ = set_elapsed;
}

/// The server's clock now, computed from its time when the view's data was loaded.
#[must_use]
pub fn now(at_load: api::Time) -> Signal<api::Time> {
    let Some(Clock(elapsed)) = use_context::<Clock>() else { return Signal::stored(at_load) };
    let loaded = elapsed.get_untracked();
    Signal::derive(move || api::Time(at_load.0 + elapsed.get() - loaded))
}
