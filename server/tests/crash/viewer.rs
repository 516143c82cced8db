//! Reads a run as a page does: line by line, through the live socket.

use api::live::LiveFrame;
use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::patience::PATIENCE;
use crate::server::Server;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) missing: u64,
}

/// A socket that follows `run` from its first line.
pub(crate) async fn open(server: &Server, cookie: &str, run: &str) -> Socket {
    let address = server.address().await;
    let mut request = format!("ws://{address}/live").into_client_request().expect("a request");
    request.headers_mut().insert("cookie", cookie.parse().expect("ascii"));
    request.headers_mut().insert("origin", format!("http://{address}").parse().expect("ascii"));
    let (mut socket, _) = connect_async(request).await.expect("connected");
    let follow = format!(r#"{{"do":"follow","run":"{run}","from":1}}"#);
    socket.send(Message::text(follow)).await.expect("sent");
    socket
}

/// All lines until the end of the run.
pub(crate) async fn read(server: &Server, cookie: &str, run: &str) -> Shown {
    let mut socket = open(server, cookie, run).await;
    let (mut text, mut next) = (String::new(), 1);
    loop {
        let message = timeout(PATIENCE, socket.next()).await.expect("in time").expect("open").expect("a message");
        let Message::Text(frame) = message else { continue };
        match serde_json::from_str(&frame).expect("a frame") {
            LiveFrame::Lines { first, lines, .. } => {
                assert_eq!(first, next, "the lines of {run}");
                next += lines.len() as u64;
                for line in lines {
                    text += &line.s;
                    text.push('\n');
                }
            }
            LiveFrame::End { end, .. } => {
                assert_eq!(end.lines, next - 1, "the number of lines of {run}");
                return Shown { text, missing: end.missing };
            }
            LiveFrame::Gap { .. }
            | LiveFrame::Interrupted { .. }
            | LiveFrame::Refused { .. }
            | LiveFrame::SignedOut => panic!("{frame}"),
            LiveFrame::Events { .. } | LiveFrame::Changed { .. } | LiveFrame::Beat => {}
        }
    }
}
