//! The task behind each socket.

use std::sync::{Arc, Once};
use std::time::Duration;

use api::backend::Frames;
use api::live::{LiveFrame, LiveRequest, Topic};
use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::extract::{State, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, header};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::follows::Follows;
use super::topics::Topics;
use crate::session::Session;
use crate::web::Web;
use crate::web::problem::as_json;

/// Time between heartbeats. Proxies close connections that are silent for 60 s, some after 30 s.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// How long a browser may accept no data before it counts as disconnected.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(30);

/// Logs once what a proxy may be missing: every page sends such a request every few seconds.
static NO_UPGRADE: Once = Once::new();

/// The largest request, in bytes. Requests are a few names and numbers.
const REQUEST_LIMIT: usize = 64 * 1024;

/// Upgrades to the socket. The layers have already checked origin and session.
pub(in crate::web) async fn upgrade(
    State(web): State<Arc<Web>>,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(refusal) => {
            use WebSocketUpgradeRejection::{InvalidConnectionHeader, InvalidUpgradeHeader};
            let lacks_upgrade = matches!(refusal, InvalidConnectionHeader(_) | InvalidUpgradeHeader(_));
            // Browsers send this header with every WebSocket, also through a proxy that removes those of the upgrade.
            if lacks_upgrade && headers.contains_key(header::SEC_WEBSOCKET_KEY) {
                NO_UPGRADE.call_once(|| {
                    tracing::warn!(
                        "a WebSocket arrived without the headers Upgrade and Connection: a proxy doesn't pass them on, so pages ask for changes every few seconds instead of getting live updates (docs/install.md, Behind a proxy)"
                    );
                });
            }
            return refusal.into_response();
        }
    };
    // Subscribe before the page sends its topics, so that no change in between is lost.
    let changes = match web.backend.changes.subscribe(&session.user).await {
        Ok(changes) => changes,
        Err(problem) => return as_json(&problem),
    };
    // A tab sends little, and frames are flushed at once. The default buffers (128 KiB each) would be most of a viewer's memory.
    let upgrade = upgrade.read_buffer_size(4 * 1024).write_buffer_size(16 * 1024);
    upgrade.max_message_size(REQUEST_LIMIT).on_upgrade(move |socket| {
        let sockets = web.sockets.clone();
        sockets.track_future(serve(web, session, socket, changes))
    })
}

/// Why the server closes a socket.
enum Ending {
    SignedOut,
    Stopping,
    /// The browser disconnected or accepts no data, the backend ended the stream of changes, or the token of the session must be renewed.
    /// The browser reconnects.
    Disconnected,
}

async fn serve(web: Arc<Web>, session: Session, socket: WebSocket, changes: Frames<Topic>) {
    let (sink, requests) = socket.split();
    let mut outgoing = Outgoing(sink);
    let ending = tokio::select! {
        () = web.ended(&session) => Ending::SignedOut,
        () = web.stop.cancelled() => Ending::Stopping,
        // The request of the next connection renews the token.
        () = session.token_is_due() => Ending::Disconnected,
        () = talk(&web, &session, &mut outgoing, requests, changes) => Ending::Disconnected,
    };
    let last = match ending {
        Ending::SignedOut => {
            outgoing.send(&LiveFrame::SignedOut).await;
            CloseFrame { code: close_code::POLICY, reason: "signed out".into() }
        }
        Ending::Stopping => CloseFrame { code: close_code::AWAY, reason: "the server is stopping".into() },
        Ending::Disconnected => CloseFrame { code: close_code::NORMAL, reason: "".into() },
    };
    let _ = timeout(Duration::from_secs(2), outgoing.0.send(Message::Close(Some(last)))).await;
}

/// Serves the socket until the browser disconnects.
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
        let next_due = topics.next();
        let frames: Vec<LiveFrame> = tokio::select! {
            request = requests.next() => match request {
                Some(Ok(Message::Text(text))) => answer(web, session, text.as_str(), &mut topics, &mut follows),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => vec![refused("Requests must be JSON text.")],
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            changed = changes.next() => match changed {
                Some(topic) if topics.changed(&topic, Instant::now()) => vec![LiveFrame::Changed { topic }],
                Some(_) => continue,
                None => return,
            },
            () = async { sleep_until(next_due.unwrap_or_else(Instant::now)).await }, if next_due.is_some() => {
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

/// Handles a request of the page.
fn answer(web: &Web, session: &Session, text: &str, topics: &mut Topics, follows: &mut Follows) -> Vec<LiveFrame> {
    match serde_json::from_str(text) {
        Ok(LiveRequest::Topics { topics: wanted }) => {
            topics.want(wanted, Instant::now()).into_iter().map(|topic| LiveFrame::Changed { topic }).collect()
        }
        Ok(LiveRequest::Follow { run, from, events_from }) => {
            let started = follows.start(&web.backend, &session.user, run, from, events_from);
            if started { Vec::new() } else { vec![refused("This tab already follows the maximum number of runs.")] }
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
    /// Whether the browser accepted the frame in time.
    async fn send(&mut self, frame: &LiveFrame) -> bool {
        let text = serde_json::to_string(frame).expect("frames have string keys");
        matches!(timeout(ACCEPTED_WITHIN, self.0.send(Message::Text(text.into()))).await, Ok(Ok(())))
    }
}
