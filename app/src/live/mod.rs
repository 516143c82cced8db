//! Live updates: one WebSocket per tab.
//!
//! # How an update reaches a component
//!
//! 1. A component calls [`use_topic`] or [`follow`] (`context`). It receives updates until it is removed.
//! 2. `hub` owns the socket and the timers. It passes each event (a frame, a closed socket, a new wish of a component) to
//!    `protocol`.
//! 3. `protocol` is a state machine without I/O. It decides what to send, what to request again after a broken connection, and
//!    which frames to ignore, and answers with commands.
//! 4. `hub` carries out the commands: it opens the socket, sends a request, or delivers an update (`news`) to the component.
//!
//! If the socket can't be opened, `ask` asks the server by HTTP every few seconds for what the socket would have sent, and whether the
//! session has ended. On the server there is no socket: the functions of step 1 do nothing.

mod ask;
mod context;
#[cfg(feature = "hydrate")]
mod hub;
mod news;
#[cfg(any(feature = "hydrate", test))]
mod protocol;

pub(crate) use self::context::{closing_for_sign_out, connection, follow, provide_live, reporting_sign_out, use_topic};
pub use self::news::{Connection, RunNews};
