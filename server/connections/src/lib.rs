//! Serves HTTP/1.1 on a port, so that neither silent nor slow clients nor a flood of connections keep others out.
//!
//! [`serve`] accepts connections within [`Limits`]. They limit the time of each step: the TLS handshake and the first request, the
//! pause before the next request, the request's body, and how long the client may accept no data. They don't limit how long an answer
//! takes: a watch, a followed log, a WebSocket or a slow download stays open.
//!
//! A connection is a *stranger* until a request on it shows a valid session or token: the handler then calls [`Peer::signed_in`]. When
//! a port has its full number of strangers, the one that has been silent longest is closed for each new one. So a part of each
//! port's connections is kept for people who are signed in, and both ports together leave a quarter of the process's descriptors
//! to the rest of the program.
//!
//! There is no limit per address: behind a proxy, all clients have the same one.

mod arriving;
pub mod descriptors;
mod limits;
mod peers;
mod serve;
mod socket;

pub use limits::Limits;
pub use peers::Peer;
pub use serve::{plain, serve};
pub use socket::Socket;
