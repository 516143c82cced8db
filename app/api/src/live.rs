//! The protocol of the `/live` socket: JSON text frames, one socket per tab.

use serde::{Deserialize, Serialize};

use crate::OperationName;
use crate::log::{LogEnd, LogLine};
use crate::run::RunEvent;

/// From the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum LiveRequest {
    /// Replaces the topics this tab wants.
    Topics { topics: Vec<Topic> },
    /// Follows a run from line `from` (1: all) and event `events_from` (1: all). Replaces an earlier follow of it.
    Follow {
        run: OperationName,
        from: u64,
        #[serde(default = "one")]
        events_from: u64,
    },
    /// Ends a follow.
    Unfollow { run: OperationName },
}

fn one() -> u64 {
    1
}

/// What a page can subscribe to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "topic", content = "name", rename_all = "snake_case")]
pub enum Topic {
    /// Any cluster, and the operations that show on cluster rows.
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
    /// Something of this topic changed; at most 4 a second and topic. The page refetches what it shows.
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
    /// No updates of a run come, for this reason: a request was refused, or the follow of a run failed. After a temporary failure
    /// the server retries, and sends an empty `Lines` frame when the follow works again. The frame names no run, so the page shows
    /// the reason with every run that it follows.
    Refused {
        message: String,
    },
    /// The session ended: sign in again.
    SignedOut,
    /// Heartbeat, at least every 20 s.
    Beat,
}
