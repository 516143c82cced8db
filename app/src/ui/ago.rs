//! Times relative to now. The title shows the absolute time.

use api::Time;
use leptos::prelude::*;

use super::{clock, dynamic};

/// `14 min ago`.
#[component]
pub fn Ago(
    time: Time,
    /// The server's clock when the data was loaded.
    now: Time,
) -> impl IntoView {
    let now = clock::now(now);
    let words = Memo::new(move |_| time.ago(now.get()));
    view! { <time datetime=datetime(time) title=time.utc()>{dynamic(move || words.get())}</time> }
}

/// `3 min 51 s`: from `start` to `end`, or to now while there is no end.
#[component]
pub fn Since(start: Time, #[prop(default = None)] end: Option<Time>, now: Time) -> impl IntoView {
    let now = clock::now(now);
    let words = Memo::new(move |_| start.until(end.unwrap_or_else(|| now.get())));
    view! { <time class="num" title=format!("since {}", start.utc())>{dynamic(move || words.get())}</time> }
}

/// `2026-11-21T07:00:05Z`, for machines.
fn datetime(time: Time) -> String {
    time.utc().replacen(' ', "T", 1).replace(" UTC", "Z")
}
