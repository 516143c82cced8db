//! The progress of a run, for pages that show more than one run.

use std::time::Duration;

use api::progress::RunProgress;
use api::{OperationName, User};
use tokio::time::{Instant, sleep, timeout_at};

use crate::Console;

/// How long a request waits for the events of a run.
const WITHIN: Duration = Duration::from_secs(2);
/// How often it looks whether the log of an ended run is complete.
const AGAIN: Duration = Duration::from_millis(100);

impl Console {
    /// What the events of a run tell so far; `None` if they can't be read within two seconds. An operation ends a little before its log
    /// is complete, and no change is reported after that, so for a run that has `ended` this waits for the rest.
    pub(crate) async fn progress_of(&self, user: &User, run: &OperationName, ended: bool) -> Option<RunProgress> {
        let (runs, deadline) = (self.shared.runs.get()?, Instant::now() + WITHIN);
        let mut record = timeout_at(deadline, runs.record(user, run, 0, 1)).await.ok()?.ok()?;
        while ended && record.note.is_none() && record.log.end.is_none() && Instant::now() < deadline {
            sleep(AGAIN).await;
            match timeout_at(deadline, runs.record(user, run, 0, 1)).await {
                Ok(Ok(newer)) => record = newer,
                _ => break,
            }
        }
        Some(RunProgress::from_events(&record.events))
    }
}
