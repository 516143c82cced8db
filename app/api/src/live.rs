//! The protocol of the `/live` socket: JSON text frames, one socket per tab.

use serde::{Deserialize, Serialize};

use crate::OperationName;
use crate::log::{LogEnd, LogLine};
use crate::run::RunEvent;

/// A request of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum LiveRequest {
    /// Replaces the topics that this tab subscribes to.
    Topics { topics: Vec<Topic> },
    /// Streams a run, starting at line `from` and event `events_from` (both count from 1). Replaces an earlier `Follow` of
    /// the same run.
    Follow {
        run: OperationName,
        from: u64,
        #[serde(default = "one")]
        events_from: u64,
    },
    /// Stops streaming a run.
    Unfollow { run: OperationName },
}

fn one() -> u64 {
    1
}

/// What a page can subscribe to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "topic", content = "name", rename_all = "snake_case")]
pub enum Topic {
    /// Any cluster, and operations that the rows of the cluster list show.
    Clusters,
    Cluster(String),
    /// Any operation.
    Operations,
    Operation(String),
}

/// To the page. Externally tagged: `{"lines": {…}}`, or `"beat"` without content. Internal tagging would double the size of the
/// code that reads it in the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveFrame {
    /// Something in this topic has changed. The page reloads its data. At most 4 per second and topic.
    Changed {
        topic: Topic,
    },
    Lines {
        run: OperationName,
        first: u64,
        lines: Vec<LogLine>,
    },
    Events {
        run: OperationName,
        events: Vec<RunEvent>,
    },
    /// Lines `from..to` were left out because this tab was too slow. The page follows the run again from its first missing line.
    Gap {
        run: OperationName,
        from: u64,
        to: u64,
    },
    End {
        run: OperationName,
        end: LogEnd,
    },
    /// The server can't follow the run at the moment. It retries, and sends an empty `Lines` frame once it follows the run again.
    Interrupted {
        run: OperationName,
        message: String,
    },
    /// The server refused a request, or can't follow a run and doesn't retry. This frame doesn't name the run, so the page shows
    /// the message for every run that it follows.
    Refused {
        message: String,
    },
    /// The session has ended. The user must sign in again.
    SignedOut,
    /// A heartbeat, sent at least every 20 s.
    Beat,
}
