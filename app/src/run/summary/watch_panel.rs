//! What there is to watch while the run goes on. A piece of the page.

use api::operation::Phase;
use api::watch::Watch;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::functions::load_watch;
use super::super::state::Run;
use crate::ui::optional;
use crate::wait::pause;
use crate::watch::WatchView;

/// The time between two requests, in milliseconds. The server reads all events of the run for each.
const PAUSE: i32 = 3_000;

/// Asks the server again and again while the run goes on, and once after its end.
#[component]
pub fn WatchPanel() -> impl IntoView {
    let run = expect_context::<Run>();
    keep_loading(run);
    optional(move || {
        // The answer after the end comes later.
        let has_ended = run.phase.get().is_final();
        let current = |watch: Watch| if has_ended { watch.after_the_end() } else { watch };
        run.told.get().watch.map(current).map(|watch| view! { <WatchView watch/> })
    })
}

fn keep_loading(run: Run) {
    // An effect runs in the browser only.
    Effect::new(move |_| {
        spawn_local(async move {
            loop {
                let is_last = run.phase.try_get_untracked().is_none_or(Phase::is_final);
                let Some(name) = run.name.try_get_value() else { return };
                // The next request replaces one that failed. The state of the connection says that the page is old.
                if let Ok(watch) = load_watch(name.to_string()).await {
                    run.told.try_update(|told| told.watch = Some(watch));
                }
                if is_last {
                    return;
                }
                pause(PAUSE).await;
            }
        });
    });
}
