//! The frame around every page: sidebar, top bar, and the live indicator.

mod breadcrumbs;
mod functions;
mod sidebar;

use api::live::Topic;
use breadcrumbs::Breadcrumbs;
use functions::load_frame;
use leptos::prelude::*;
use leptos_router::components::Outlet;
use sidebar::Sidebar;

use crate::json::data;
use crate::keyboard::Keyboard;
use crate::live::{self, Connection};
use crate::preferences::Preferences;
use crate::ui::dynamic;

/// The frame with the page inside.
#[component]
pub fn Console() -> impl IntoView {
    let clusters = live::use_topic(Topic::Clusters);
    let operations = live::use_topic(Topic::Operations);
    let frame = data(move || (clusters.get(), operations.get()), |_| load_frame());
    let preferences = expect_context::<Preferences>();
    let narrow = RwSignal::new(preferences.narrow);
    view! {
        <a class="skip-link" href="#main">"Skip to content"</a>
        <div class="shell" class:narrow=move || narrow.get()>
            <Sidebar frame narrow/>
            <div class="main">
                <header class="top">
                    <Breadcrumbs/>
                    <LiveIndicator/>
                </header>
                <main class="page" id="main" tabindex="-1">
                    <Outlet/>
                </main>
            </div>
        </div>
        <Keyboard/>
    }
}

/// Shows whether the page receives live updates.
#[component]
fn LiveIndicator() -> impl IntoView {
    let connection = live::connection();
    let words = move || match connection.get() {
        Connection::Connecting => ("connecting", "", "This page shows the state from when it was loaded."),
        Connection::Live => ("on", "Live", "Changes appear automatically."),
        Connection::Lost => ("lost", "Disconnected, retrying", "The last known values are shown."),
    };
    view! {
        <span class="live" role="status" data-live=move || words().0 title=move || words().2>
            <i aria-hidden="true"></i>
            <span>{dynamic(move || words().1)}</span>
        </span>
    }
}
