//! What components learn from the socket.

use api::log::{LogEnd, LogLine};
use api::run::RunEvent;

/// The state of the socket.
#[cfg_attr(not(any(feature = "hydrate", test)), expect(dead_code, reason = "only the browser has a socket"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Not open yet. The server renders this state.
    Connecting,
    Live,
    /// The connection broke, and the next try is pending.
    Lost,
    /// No socket can be opened, but the server answers: the page asks it every few seconds. `long` after several such attempts.
    Asking {
        long: bool,
    },
    /// The session has ended, and the page stays because of what the user has typed.
    SignedOut,
}

impl Connection {
    /// Whether the page gets no live updates, and did before or should by now.
    pub fn is_cut(self) -> bool {
        !matches!(self, Self::Connecting | Self::Live)
    }
}

/// An update of a followed run. Updates come in order, each line and each event once.
#[cfg_attr(not(any(feature = "hydrate", test)), expect(dead_code, reason = "only the browser has a socket"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunNews {
    /// Consecutive lines. `first` is the number of the first one and follows the last line that came before.
    Lines {
        first: u64,
        lines: Vec<LogLine>,
    },
    Events(Vec<RunEvent>),
    End(LogEnd),
    /// The server sends no updates, for this reason. If the reason is temporary, `Lines` follow later.
    NoUpdates(String),
}
