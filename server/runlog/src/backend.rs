//! Answers what the pages and the live socket ask for: the trait [`Runs`], on top of the journals.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::backend::{Frames, Runs};
use api::log::{Found, LogEnd, LogFrame, LogPage, LogQuery, RunRecord};
use api::run::HostStats;
use api::{OperationName, Problem, User};
use async_trait::async_trait;
use crd::ClusterOperation;
use futures::{FutureExt, StreamExt, future, stream};
use tokio::time::timeout;

use crate::pod::PodState;
use crate::rechecked::rechecked;
use crate::run::StoredRun;
use crate::run_log::{RunLog, job, unreadable};
use crate::scan::Point;
use crate::{find, follow, note, reading};

/// How often a viewer checks whether its operation has a run by now. The check makes no request, unless
/// the store doesn't have the operation yet.
const POLL: Duration = Duration::from_millis(250);

/// How long a search waits while too many others run.
const PATIENCE: Duration = Duration::from_secs(10);

/// The last line of a download of a log that has no end yet.
const INCOMPLETE: &str =
    "\n[These are the lines until now. The run has not ended, or the server is still collecting its log.]\n";

async fn blocking<T: Send + 'static>(read: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Problem> {
    let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::other);
    read.and_then(|result| result).map_err(|error| unreadable(&error))
}

/// Whether there is a run to follow.
enum Availability {
    Run(Arc<StoredRun>),
    /// There is none and there won't be one.
    Never(LogEnd),
    NotYet,
    /// The operation is deleted, the user may no longer see it, or that can't be found out now.
    Closed(Problem),
}

impl RunLog {
    /// Waits for a run that doesn't exist yet, then follows it.
    async fn later(self, user: User, name: OperationName, from: u64, events_from: u64) -> Frames<LogFrame> {
        loop {
            let only = match self.availability(&user, &name).await {
                Availability::Run(run) => return follow::follow(run, from, events_from),
                Availability::Never(end) => LogFrame::End(end),
                Availability::Closed(problem) => LogFrame::Closed(problem),
                Availability::NotYet => {
                    tokio::time::sleep(POLL).await;
                    continue;
                }
            };
            return stream::once(future::ready(only)).boxed();
        }
    }

    async fn availability(&self, user: &User, name: &OperationName) -> Availability {
        let (operation, run) = match self.authorised(user, name).await {
            Ok(found) => found,
            Err(problem) => return Availability::Closed(problem),
        };
        match run {
            Some(run) => Availability::Run(run),
            None => self.end_without_run(&operation).map_or(Availability::NotYet, Availability::Never),
        }
    }

    /// The end of the log of an operation whose run is not on disk and never will be. `None` if it may still appear.
    fn end_without_run(&self, operation: &ClusterOperation) -> Option<LogEnd> {
        let status = operation.status.as_ref();
        let missing = |n: bool| Some(LogEnd { lines: 0, missing: n.into() });
        // A record of an earlier run never runs, whatever its phase is.
        if status.and_then(|status| status.reason.as_deref()) == Some(crd::RESTORED) {
            return missing(false);
        }
        let job = job(operation);
        match job.and_then(|(_, uid)| self.pod(uid)).map(|pod| pod.state) {
            Some(PodState::Gone { ran }) => missing(ran),
            None if status.is_some_and(|status| status.status.is_final()) => missing(job.is_some()),
            // The pod or the run's folder will appear.
            None | Some(PodState::Running | PodState::Ended { .. } | PodState::Waiting(_)) => None,
        }
    }
}

#[async_trait]
impl Runs for RunLog {
    async fn record(&self, user: &User, name: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem> {
        self.record_since(user, name, from, 0, count).await
    }

    async fn record_since(
        &self,
        user: &User,
        name: &OperationName,
        from: u64,
        events_from: u64,
        count: u32,
    ) -> Result<RunRecord, Problem> {
        let (operation, run) = self.authorised(user, name).await?;
        let pod = job(&operation).and_then(|(_, uid)| self.pod(uid));
        let Some(run) = run else {
            let log = LogPage { first: from.max(1), end: self.end_without_run(&operation), ..LogPage::default() };
            return Ok(RunRecord { events: Vec::new(), log, note: note::note(&operation, pod.as_ref(), false) });
        };
        blocking(move || {
            let (log, events) = (reading::page(&run, from, count)?, reading::events(&run, events_from)?);
            let note = if log.total == 0 { note::note(&operation, pod.as_ref(), true) } else { None };
            Ok(RunRecord { events, log, note })
        })
        .await
    }

    async fn page(&self, user: &User, name: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem> {
        match self.authorised(user, name).await?.1 {
            Some(run) => blocking(move || reading::page(&run, from, count)).await,
            None => Ok(LogPage { first: from.max(1), ..LogPage::default() }),
        }
    }

    async fn find(&self, user: &User, name: &OperationName, query: &LogQuery) -> Result<Found, Problem> {
        let Some(run) = self.authorised(user, name).await?.1 else { return Ok(Found::default()) };
        let busy = || Problem::Unavailable { message: "Too many searches are running. Try again in a moment.".into() };
        let permit = timeout(PATIENCE, Arc::clone(&self.searches).acquire_owned()).await;
        let permit = permit.map_err(|_| busy())?.map_err(|_| Problem::Internal)?;
        let query = query.clone();
        blocking(move || {
            // The search doesn't stop when the caller leaves, so it keeps its permit.
            let _permit = permit;
            find::find(&run, &query, Instant::now() + find::WITHIN)
        })
        .await
    }

    async fn follow(
        &self,
        user: &User,
        name: &OperationName,
        from: u64,
        events_from: u64,
    ) -> Result<Frames<LogFrame>, Problem> {
        let run = self.authorised(user, name).await?.1;
        let (this, user, name) = (self.clone(), user.clone(), name.clone());
        let frames = match run {
            Some(run) => follow::follow(run, from, events_from),
            None => stream::once(self.clone().later(user.clone(), name.clone(), from, events_from)).flatten().boxed(),
        };
        let deleted = Problem::NotFound { what: "log".into(), name: name.to_string() };
        let may = move || {
            let (this, user, name) = (this.clone(), user.clone(), name.clone());
            async move { this.permitted(&user, &name).await.map(drop) }.boxed()
        };
        Ok(rechecked(frames, may, deleted))
    }

    async fn recaps(&self, user: &User, name: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        match self.authorised(user, name).await?.1 {
            Some(run) => blocking(move || reading::recaps(&run)).await,
            None => Ok(Vec::new()),
        }
    }

    async fn text(&self, user: &User, name: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem> {
        let Some(run) = self.authorised(user, name).await?.1 else { return Ok(stream::empty().boxed()) };
        let extent = run.extent();
        let until = extent.bytes;
        let chunks = stream::unfold(Some((run.file(), Point::default())), move |at| async move {
            let (file, mut point) = at?;
            match blocking(move || reading::text(&file, &mut point, until).map(|chunk| (chunk, file, point))).await {
                Ok((chunk, ..)) if chunk.is_empty() => None,
                Ok((chunk, file, point)) => Some((Ok(chunk), Some((file, point)))),
                Err(problem) => Some((Err(problem), None)),
            }
        });
        let rest = extent.end.is_none().then(|| Ok(INCOMPLETE.as_bytes().to_vec()));
        Ok(chunks.chain(stream::iter(rest)).boxed())
    }
}
