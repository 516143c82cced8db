//! `/live`: one WebSocket per tab, for news of what changed and for the lines of runs.
//!
//! One task per socket, and no queue: while the browser doesn't take a frame, nothing more is read from the backend, whose
//! streams say what a slow reader missed. What is in flight is one frame and the kernel's buffer. The task ends with the
//! session, with the server, or when the browser takes nothing for 30 seconds.

mod follows;
mod topics;

use std::{sync::Arc, time::Duration};

use api::{
    backend::Frames,
    live::{LiveFrame, LiveRequest, Topic},
};
use axum::{
    Extension,
    extract::{
        State, WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket, close_code},
    },
    response::Response,
};
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use crate::{guard::as_json, router::Web, session::Session};
use follows::Follows;
use topics::Topics;

/// Time between heartbeats. Proxies cut what is silent for 60 s, often 30.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// How long a browser may take nothing before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests are a few names and numbers.
const REQUEST_LIMIT: usize = 64 * 1024;

/// Upgrades to the socket. The layers have checked origin and session.
pub(crate) async fn upgrade(
    State(web): State<Arc<Web>>,
    Extension(session): Extension<Session>,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Subscribed before the page says what it wants, so that nothing falls between.
    let changes = match web.backend.changes.subscribe(&session.user).await {
        Ok(changes) => changes,
        Err(problem) => return as_json(&problem),
    };
    // A tab says little, and what it is told is flushed at once: buffers of 128 KiB each would be most of what a viewer costs.
    let upgrade = upgrade.read_buffer_size(4 * 1024).write_buffer_size(16 * 1024);
    upgrade.max_message_size(REQUEST_LIMIT).on_upgrade(move |socket| {
        let sockets = web.sockets.clone();
        sockets.track_future(serve(web, session, socket, changes))
    })
}

/// Why a socket is closed by us.
enum Ending {
    SignedOut,
    Stopping,
    /// The browser went away, takes nothing, or the backend ended the news: it connects again by itself.
    Gone,
}

async fn serve(web: Arc<Web>, session: Session, socket: WebSocket, changes: Frames<Topic>) {
    let (sink, requests) = socket.split();
    let mut outgoing = Outgoing(sink);
    let ending = tokio::select! {
        () = web.over(&session) => Ending::SignedOut,
        () = web.stop.cancelled() => Ending::Stopping,
        () = talk(&web, &session, &mut outgoing, requests, changes) => Ending::Gone,
    };
    let last = match ending {
        Ending::SignedOut => {
            outgoing.send(&LiveFrame::SignedOut).await;
            CloseFrame { code: close_code::POLICY, reason: "signed out".into() }
        }
        Ending::Stopping => CloseFrame { code: close_code::AWAY, reason: "the server is stopping".into() },
        Ending::Gone => CloseFrame { code: close_code::NORMAL, reason: "".into() },
    };
    let _ = timeout(Duration::from_secs(2), outgoing.0.send(Message::Close(Some(last)))).await;
}

/// Serves the socket until the browser is gone.
async fn talk(
    web: &Web,
    session: &Session,
    outgoing: &mut Outgoing,
    mut requests: SplitStream<WebSocket>,
    mut changes: Frames<Topic>,
) {
    let (mut topics, mut follows) = (Topics::default(), Follows::default());
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    loop {
        let rest_over = topics.next();
        let frames: Vec<LiveFrame> = tokio::select! {
            request = requests.next() => match request {
                Some(Ok(Message::Text(text))) => answer(web, session, text.as_str(), &mut topics, &mut follows),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => vec![refused("Requests are JSON text.")],
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            changed = changes.next() => match changed {
                Some(topic) if topics.changed(&topic, Instant::now()) => vec![LiveFrame::Changed { topic }],
                Some(_) => continue,
                None => return,
            },
            () = async { sleep_until(rest_over.unwrap_or_else(Instant::now)).await }, if rest_over.is_some() => {
                topics.due(Instant::now()).into_iter().map(|topic| LiveFrame::Changed { topic }).collect()
            }
            frame = follows.next() => vec![frame],
            _ = heartbeat.tick() => vec![LiveFrame::Beat],
        };
        for frame in &frames {
            if !outgoing.send(frame).await {
                return;
            }
        }
    }
}

/// Does what the page asks.
fn answer(web: &Web, session: &Session, text: &str, topics: &mut Topics, follows: &mut Follows) -> Vec<LiveFrame> {
    match serde_json::from_str(text) {
        Ok(LiveRequest::Topics { topics: wanted }) => {
            topics.want(wanted, Instant::now()).into_iter().map(|topic| LiveFrame::Changed { topic }).collect()
        }
        Ok(LiveRequest::Follow { run, from, events_from }) => {
            let started = follows.start(&web.backend, &session.user, run, from, events_from);
            if started { Vec::new() } else { vec![refused("This tab follows too many runs at once.")] }
        }
        Ok(LiveRequest::Unfollow { run }) => {
            follows.stop(&run);
            Vec::new()
        }
        Err(error) => vec![refused(&format!("This request can't be read: {error}."))],
    }
}

fn refused(message: &str) -> LiveFrame {
    LiveFrame::Refused { message: message.to_owned() }
}

struct Outgoing(SplitSink<WebSocket, Message>);

impl Outgoing {
    /// Whether the browser took it in time.
    async fn send(&mut self, frame: &LiveFrame) -> bool {
        let text = serde_json::to_string(frame).expect("frames have string keys");
        matches!(timeout(PATIENCE, self.0.send(Message::Text(text.into()))).await, Ok(Ok(())))
    }
}
