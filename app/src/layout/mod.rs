//! The frame around every page: sidebar, top bar, and the live indicator.

mod breadcrumbs;
mod functions;
mod sidebar;

use api::live::Topic;
use breadcrumbs::Breadcrumbs;
use functions::load_frame;
use leptos::prelude::*;
use leptos_router::components::Outlet;
use leptos_router::hooks::use_location;
use sidebar::Sidebar;

use crate::form::Submission;
use crate::json::data;
use crate::keyboard::Keyboard;
use crate::live::{self, Connection};
use crate::preferences::Preferences;
use crate::routes;
use crate::ui::{dynamic, optional, when_known};

/// The frame with the router's page inside.
#[component]
pub fn Console() -> impl IntoView {
    view! { <Frame><Outlet/></Frame> }
}

/// The frame with `children` as the page.
#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let clusters = live::use_topic(Topic::Clusters);
    let operations = live::use_topic(Topic::Operations);
    let frame = data(move || (clusters.get(), operations.get()), |_| load_frame());
    let preferences = expect_context::<Preferences>();
    let narrow = RwSignal::new(preferences.narrow);
    let notice = when_known(frame, |frame| {
        frame.ok().and_then(|f| f.notice).map(|text| view! { <p class="notice" role="alert">{text}</p> })
    });
    let connection = live::connection();
    // When the updates stopped, by the browser's clock.
    let since = RwSignal::new(String::new());
    Effect::new(move |was_cut: Option<bool>| {
        let is_cut = connection.get().is_cut();
        if is_cut && was_cut != Some(true) {
            since.set(local_time());
        }
        is_cut
    });
    let submission = expect_context::<Submission>();
    Effect::new(move |was_signed_out: Option<bool>| {
        let is_signed_out = connection.get() == Connection::SignedOut;
        if was_signed_out == Some(true) && !is_signed_out {
            submission.forget_sign_out();
        }
        is_signed_out
    });
    view! {
        // External, so that the browser follows it: the router would scroll but leave the focus where it is.
        <a class="skip-link" href="#main" rel="external">"Skip to content"</a>
        <div class="shell" class:narrow=move || narrow.get()>
            <Sidebar frame narrow/>
            <div class="main">
                <header class="top">
                    <Breadcrumbs/>
                    <LiveIndicator since/>
                </header>
                <LiveProblem since/>
                <Transition>{notice}</Transition>
                <main class="page" id="main" tabindex="-1">
                    {children()}
                </main>
            </div>
        </div>
        <Keyboard/>
    }
}

/// Shows whether the page receives live updates.
#[component]
fn LiveIndicator(since: RwSignal<String>) -> impl IntoView {
    let connection = live::connection();
    let words = move || match connection.get() {
        Connection::Connecting => ("connecting", String::new(), "This page shows the state from when it was loaded."),
        Connection::Live => ("on", "Live".to_owned(), "Changes appear automatically."),
        Connection::Lost => {
            ("lost", format!("Disconnected since {}, retrying", since.get()), "The last known values are shown.")
        }
        Connection::Asking { .. } => {
            ("asking", format!("No live updates since {}", since.get()), "The page asks for changes every few seconds.")
        }
        Connection::SignedOut => ("signed-out", "Signed out".to_owned(), "The last known values are shown."),
    };
    view! {
        <span class="live" role="status" data-live=move || words().0 title=move || words().2>
            <i aria-hidden="true"></i>
            <span>{dynamic(move || words().1)}</span>
        </span>
    }
}

/// Why the page gets no live updates, where the user can do something about it.
#[component]
fn LiveProblem(since: RwSignal<String>) -> impl IntoView {
    let connection = live::connection();
    let location = use_location();
    optional(move || {
        match connection.get() {
        Connection::SignedOut => {
            let here = routes::here(&location.pathname.get(), &location.search.get());
            Some(
                view! {
                    <p class="notice" role="alert">
                        "Your session has ended. What you typed is still here, but it was not saved. "
                        <a class="link" href=routes::login(&here) target="_blank">"Sign in in a new tab"</a>
                        ", then send it from this page."
                    </p>
                }
                .into_any(),
            )
        }
        Connection::Asking { long: true } => Some(
            view! {
                <p class="notice" role="alert">
                    "No live updates since " {since.get()} ": the server answers, but no WebSocket reaches it. A proxy between this browser and the \
                     server probably doesn't pass on the headers Upgrade, Connection and Host of " <code>"/live"</code> ". Until then, this \
                     page asks for changes every few seconds."
                </p>
            }
            .into_any(),
        ),
        _ => None,
    }
    })
}

/// The time of day, such as `14:05:09`.
#[cfg(feature = "hydrate")]
fn local_time() -> String {
    js_sys::Date::new_0().to_locale_time_string("en-GB").into()
}

/// Only the browser can lose a connection.
#[cfg(not(feature = "hydrate"))]
fn local_time() -> String {
    String::new()
}
