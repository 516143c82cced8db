//! News from the server: one WebSocket per tab.
//!
//! Components ask with [`use_topic`] and [`follow`] and are told until they are gone. What to send, what to repeat after a
//! cut and what to drop is decided in [`machine`], a pure state machine; [`hub`] carries its decisions out in the browser.

#[cfg(feature = "hydrate")]
mod hub;
#[cfg(any(feature = "hydrate", test))]
mod machine;
mod session_check;

use api::{OperationName, live::Topic, log::LogEnd, log::LogLine, run::RunEvent};
use leptos::prelude::*;

/// How the socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Not yet open; also what the server renders.
    Connecting,
    Live,
    /// It was open and is being tried again.
    Lost,
}

/// What the follower of a run is told, in order, each line and each event once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunNews {
    /// Consecutive lines from `first`, which is the one after the last that came.
    Lines {
        first: u64,
        lines: Vec<LogLine>,
    },
    Events(Vec<RunEvent>),
    End(LogEnd),
    /// The server won't tell, with the reason.
    Refused(String),
}

/// The tab's socket, in the context of the app.
#[derive(Clone)]
struct Live {
    connection: RwSignal<Connection>,
    #[cfg(feature = "hydrate")]
    hub: send_wrapper::SendWrapper<std::rc::Rc<hub::Hub>>,
}

/// Called once, by the app. The socket opens when the first component asks for something.
pub(crate) fn provide_live() {
    let connection = RwSignal::new(Connection::Connecting);
    provide_context(Live {
        connection,
        #[cfg(feature = "hydrate")]
        hub: send_wrapper::SendWrapper::new(hub::Hub::start(connection)),
    });
}

/// How the socket is now.
#[must_use]
pub fn connection() -> Signal<Connection> {
    use_context::<Live>().map_or_else(|| Signal::stored(Connection::Connecting), |live| live.connection.into())
}

/// Rises whenever something of `topic` changed, and when the socket opens (again): then news may have been missed.
#[must_use]
pub fn use_topic(topic: Topic) -> Signal<u64> {
    let tick = RwSignal::new(0);
    #[cfg(feature = "hydrate")]
    if let Some(live) = use_context::<Live>() {
        hub::want(&live.hub, topic, tick);
    }
    #[cfg(not(feature = "hydrate"))]
    drop(topic);
    tick.into()
}

/// Follows a run from line `from` and event `events_from` until the calling component is gone. After a cut it goes on where
/// it was. One follow per run and tab: a later one takes its place.
pub fn follow(run: OperationName, from: u64, events_from: u64, sink: impl Fn(RunNews) + 'static) {
    #[cfg(feature = "hydrate")]
    if let Some(live) = use_context::<Live>() {
        hub::follow(&live.hub, run, from, events_from, sink);
    }
    #[cfg(not(feature = "hydrate"))]
    drop((run, from, events_from, sink));
}
