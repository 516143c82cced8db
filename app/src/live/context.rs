//! How components reach the socket: by Leptos context.

use api::OperationName;
use api::live::Topic;
use leptos::prelude::*;

#[cfg(feature = "hydrate")]
use super::hub;
use super::news::{Connection, RunNews};

/// The tab's socket.
#[derive(Clone)]
struct Live {
    connection: RwSignal<Connection>,
    #[cfg(feature = "hydrate")]
    hub: send_wrapper::SendWrapper<std::rc::Rc<hub::Hub>>,
}

/// Puts the socket into context. Called once, by the app. The socket opens when the first component needs it.
pub(crate) fn provide_live() {
    let connection = RwSignal::new(Connection::Connecting);
    provide_context(Live {
        connection,
        #[cfg(feature = "hydrate")]
        hub: send_wrapper::SendWrapper::new(hub::Hub::start(connection)),
    });
}

/// The current state of the socket.
#[must_use]
pub(crate) fn connection() -> Signal<Connection> {
    use_context::<Live>().map_or_else(|| Signal::stored(Connection::Connecting), |live| live.connection.into())
}

/// A number that rises whenever something of `topic` has changed. It also rises when the socket opens or reopens, because
/// changes may have been missed before.
#[must_use]
pub(crate) fn use_topic(topic: Topic) -> Signal<u64> {
    let tick = RwSignal::new(0);
    #[cfg(feature = "hydrate")]
    if let Some(live) = use_context::<Live>() {
        hub::want(&live.hub, topic, tick);
    }
    #[cfg(not(feature = "hydrate"))]
    drop(topic);
    tick.into()
}

/// Follows a run from line `from` and event `events_from` until the calling component is removed. After a broken connection
/// the run continues at the next line. A tab has one follow per run: a later call replaces an earlier one.
pub(crate) fn follow(run: OperationName, from: u64, events_from: u64, sink: impl Fn(RunNews) + 'static) {
    #[cfg(feature = "hydrate")]
    if let Some(live) = use_context::<Live>() {
        hub::follow(&live.hub, run, from, events_from, sink);
    }
    #[cfg(not(feature = "hydrate"))]
    drop((run, from, events_from, sink));
}

/// The function to call when the user signs out. It closes the socket for good: otherwise the end of the session would lead to the
/// sign-in page, which stops the browser's request to sign out before its answer leads to the provider.
pub(crate) fn closing_for_sign_out() -> impl Fn() {
    #[cfg(feature = "hydrate")]
    let live = use_context::<Live>();
    move || {
        #[cfg(feature = "hydrate")]
        if let Some(live) = &live {
            hub::sign_out(&live.hub);
        }
    }
}

/// The function to call when an answer shows that the session has ended, which the server doesn't tell through the socket if only the
/// browser has lost its cookie. The page says it, or goes to the sign-in page if the user has typed nothing.
pub(crate) fn reporting_sign_out() -> impl Fn() + Clone + Send + Sync + 'static {
    #[cfg(feature = "hydrate")]
    let live = use_context::<Live>();
    move || {
        #[cfg(feature = "hydrate")]
        if let Some(live) = &live {
            hub::signed_out(&live.hub);
        }
    }
}
