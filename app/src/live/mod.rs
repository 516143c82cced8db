//! Live updates: one WebSocket per tab.
//!
//! A component calls [`use_topic`] or [`follow`] and receives updates until it is removed. What to send, what to repeat
//! after a broken connection and what to ignore is decided by [`machine`], a state machine without I/O. In the browser,
//! [`hub`] carries out its decisions.

mod context;
#[cfg(feature = "hydrate")]
mod hub;
#[cfg(any(feature = "hydrate", test))]
mod machine;
mod news;
mod session_check;

pub(crate) use self::context::{connection, follow, provide_live, use_topic};
pub use self::news::{Connection, RunNews};
