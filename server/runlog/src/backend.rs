//! What pages and sockets ask for.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use api::{
    OperationName, Problem, User,
    backend::{Frames, Runs},
    log::{LogEnd, LogFrame, LogPage, RunRecord},
    run::HostStats,
};
use async_trait::async_trait;
use crd::{ClusterOperation, JobRef};
use futures::{FutureExt, StreamExt, future, stream};
use kube::runtime::reflector::{ObjectRef, Store};
use tokio::{
    sync::{OnceCell, watch},
    time::timeout,
};

use crate::{
    follow, note,
    pod::{PodFacts, PodState},
    reading,
    run::{self, About, Run},
    scan::Point,
    watched::watched,
};

/// Open journals that nobody uses are closed beyond this number.
const OPEN_RUNS: usize = 256;
/// How often a viewer of an operation without a run looks again. In memory: no request is made.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long who asks for a run waits for a server that has just started to know its operations.
const FILLING: Duration = Duration::from_secs(20);

/// Who may read what runs say.
#[async_trait]
pub trait Readers: Send + Sync {
    /// Whether `user` may see this operation and, once its Job's namespace is known, the logs of pods there.
    async fn may_read(&self, user: &User, run: &OperationName, namespace: Option<&str>) -> Result<(), Problem>;
}

/// Standalone: whoever is signed in.
pub struct Everybody;

#[async_trait]
impl Readers for Everybody {
    async fn may_read(&self, _: &User, _: &OperationName, _: Option<&str>) -> Result<(), Problem> {
        Ok(())
    }
}

type Opened = Arc<OnceCell<Arc<Run>>>;

/// All runs: those being collected, and those on disk. A clone is another handle to the same.
#[derive(Clone)]
pub struct RunLog {
    pub(crate) spool: PathBuf,
    /// What tells the API of `operations` from others, once that is known.
    pub(crate) api: Arc<OnceLock<String>>,
    pub(crate) operations: Store<ClusterOperation>,
    /// Whether `operations` holds what the API holds. Before, what isn't in it may well be there.
    pub(crate) filled: Arc<watch::Sender<bool>>,
    pub(crate) readers: Arc<dyn Readers>,
    /// By the Job's uid.
    runs: Arc<Mutex<HashMap<String, Opened>>>,
    /// The pods there are, by the Job's uid.
    pub(crate) pods: Arc<Mutex<HashMap<String, watch::Sender<PodFacts>>>>,
}

impl RunLog {
    pub(crate) fn new(spool: PathBuf, operations: Store<ClusterOperation>, readers: Arc<dyn Readers>) -> Self {
        Self {
            spool,
            api: Arc::default(),
            operations,
            filled: Arc::default(),
            readers,
            runs: Arc::default(),
            pods: Arc::default(),
        }
    }

    /// The run of a Job, to be written to.
    pub(crate) async fn create(&self, job: &str, about: About) -> io::Result<Arc<Run>> {
        let folder =
            run::folder(&self.spool, job).ok_or_else(|| io::Error::other("the Job's uid is no name of a folder"))?;
        self.opened(job, move || Run::create(&folder, &about)).await
    }

    /// The run of a Job, if anything of it is on disk.
    async fn find(&self, job: &str) -> io::Result<Option<Arc<Run>>> {
        let Some(folder) = run::folder(&self.spool, job) else { return Ok(None) };
        match self.opened(job, move || Run::open(&folder)).await {
            Ok(run) => Ok(Some(run)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One open journal per run, whoever asks first.
    async fn opened(&self, job: &str, open: impl FnOnce() -> io::Result<Run> + Send + 'static) -> io::Result<Arc<Run>> {
        let cell = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            if runs.len() > OPEN_RUNS {
                runs.retain(|_, cell| {
                    Arc::strong_count(cell) > 1 || cell.get().is_some_and(|run| Arc::strong_count(run) > 1)
                });
            }
            Arc::clone(runs.entry(job.to_owned()).or_default())
        };
        if let Some(run) = cell.get() {
            return Ok(Arc::clone(run));
        }
        let open = || async { tokio::task::spawn_blocking(open).await.map_err(io::Error::other)?.map(Arc::new) };
        // It goes on when whoever asked goes away: a second opening beside it might cut off what the first has written since.
        let opening = tokio::spawn(async move { cell.get_or_try_init(open).await.cloned() });
        opening.await.map_err(io::Error::other)?
    }

    /// Deletes what is spooled of a Job (by its uid) and ends its readers.
    pub async fn forget(&self, job: &str) -> io::Result<()> {
        let cell = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
        if let Some(run) = cell.as_ref().and_then(|c| c.get()) {
            run.end_readers();
        }
        let Some(folder) = run::folder(&self.spool, job) else { return Ok(()) };
        match tokio::task::spawn_blocking(move || std::fs::remove_dir_all(folder)).await.map_err(io::Error::other)? {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn pod(&self, job: &str) -> Option<PodFacts> {
        self.pods.lock().unwrap_or_else(PoisonError::into_inner).get(job).map(|facts| facts.borrow().clone())
    }

    async fn operation(&self, name: &OperationName) -> Result<Arc<ClusterOperation>, Problem> {
        let find = || self.operations.get(&ObjectRef::new(name.as_str()));
        if let Some(found) = find() {
            return Ok(found);
        }
        drop(timeout(FILLING, self.filled.subscribe().wait_for(|filled| *filled)).await);
        find().ok_or_else(|| Problem::NotFound { what: "operation".into(), name: name.to_string() })
    }

    /// The operation, if the user may read its run.
    async fn permitted(&self, user: &User, name: &OperationName) -> Result<Arc<ClusterOperation>, Problem> {
        let operation = self.operation(name).await?;
        self.readers.may_read(user, name, job(&operation).map(|(job, _)| job.namespace.as_str())).await?;
        Ok(operation)
    }

    /// The operation, if the user may read its run, and the run as far as there is one.
    async fn authorised(
        &self,
        user: &User,
        name: &OperationName,
    ) -> Result<(Arc<ClusterOperation>, Option<Arc<Run>>), Problem> {
        let operation = self.permitted(user, name).await?;
        let run = match job(&operation) {
            Some((_, uid)) => self.find(uid).await.map_err(|error| unreadable(&error))?,
            None => None,
        };
        Ok((operation, run))
    }
}

fn job(operation: &ClusterOperation) -> Option<(&JobRef, &str)> {
    let job = operation.status.as_ref()?.job_ref.as_ref()?;
    Some((job, job.uid.as_deref()?))
}

fn unreadable(error: &io::Error) -> Problem {
    tracing::error!(%error, "a run's spool can't be read");
    Problem::Internal
}

async fn blocking<T: Send + 'static>(read: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Problem> {
    let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::other);
    read.and_then(|result| result).map_err(|error| unreadable(&error))
}

/// What a viewer finds of an operation whose run it wants to see.
enum Sight {
    Run(Arc<Run>),
    /// There will never be one.
    Never(LogEnd),
    NotYet,
    /// The operation is gone or no longer the user's to see, or that can't be told now.
    Closed(Problem),
}

impl RunLog {
    /// The frames of a run that isn't there yet, once it is.
    async fn later(self, user: User, name: OperationName, from: u64, events_from: u64) -> Frames<LogFrame> {
        loop {
            let only = match self.sight(&user, &name).await {
                Sight::Run(run) => return follow::follow(run, from, events_from),
                Sight::Never(end) => LogFrame::End(end),
                Sight::Closed(problem) => LogFrame::Closed(problem),
                Sight::NotYet => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                    continue;
                }
            };
            return stream::once(future::ready(only)).boxed();
        }
    }

    async fn sight(&self, user: &User, name: &OperationName) -> Sight {
        let (operation, run) = match self.authorised(user, name).await {
            Ok(found) => found,
            Err(problem) => return Sight::Closed(problem),
        };
        if let Some(run) = run {
            return Sight::Run(run);
        }
        let ended = operation.status.as_ref().is_some_and(|s| s.status.is_final());
        let job = job(&operation);
        let pod = job.and_then(|(_, uid)| self.pod(uid));
        match pod.map(|p| p.state) {
            Some(PodState::Gone { ran }) => Sight::Never(LogEnd { lines: 0, missing: u64::from(ran) }),
            None if ended => Sight::Never(LogEnd { lines: 0, missing: u64::from(job.is_some()) }),
            // Its pod or its spool is about to appear.
            None | Some(PodState::Running | PodState::Ended { .. } | PodState::Waiting(_)) => Sight::NotYet,
        }
    }
}

#[async_trait]
impl Runs for RunLog {
    async fn record(&self, user: &User, name: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem> {
        let (operation, run) = self.authorised(user, name).await?;
        let pod = job(&operation).and_then(|(_, uid)| self.pod(uid));
        let Some(run) = run else {
            let log = LogPage { first: from.max(1), ..LogPage::default() };
            return Ok(RunRecord { events: Vec::new(), log, note: note::note(&operation, pod.as_ref(), false) });
        };
        blocking(move || {
            let (log, events) = (reading::page(&run, from, count)?, reading::events(&run)?);
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
        Ok(watched(frames, may, deleted))
    }

    async fn recaps(&self, user: &User, name: &OperationName) -> Result<Vec<BTreeMap<String, HostStats>>, Problem> {
        match self.authorised(user, name).await?.1 {
            Some(run) => blocking(move || reading::recaps(&run)).await,
            None => Ok(Vec::new()),
        }
    }

    async fn text(&self, user: &User, name: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem> {
        let Some(run) = self.authorised(user, name).await?.1 else { return Ok(stream::empty().boxed()) };
        let until = run.extent().bytes;
        let chunks = stream::unfold(Some((run.file(), Point::default())), move |at| async move {
            let (file, mut point) = at?;
            match blocking(move || reading::text(&file, &mut point, until).map(|chunk| (chunk, file, point))).await {
                Ok((chunk, ..)) if chunk.is_empty() => None,
                Ok((chunk, file, point)) => Some((Ok(chunk), Some((file, point)))),
                Err(problem) => Some((Err(problem), None)),
            }
        });
        Ok(chunks.boxed())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use kube::runtime::{reflector, watcher::Event};

    use super::*;

    #[tokio::test]
    async fn a_server_that_has_just_started_denies_no_run_that_it_has_not_read_yet() {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut writer) = reflector::store();
        let runs = RunLog::new(folder.path().to_owned(), store, Arc::new(Everybody));
        let (grow, gone) = ("grow".parse().unwrap(), "gone".parse().unwrap());
        let mut early = Box::pin(runs.operation(&grow));
        assert!(futures::poll!(&mut early).is_pending());
        writer.apply_watcher_event(&Event::Apply(ClusterOperation::new("grow", crd::ClusterOperationSpec::default())));
        runs.filled.send_replace(true);
        assert!(early.await.is_ok());
        assert!(matches!(runs.operation(&gone).await, Err(Problem::NotFound { .. })));
    }

    #[tokio::test]
    async fn a_journal_is_opened_once_though_the_first_who_asked_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RunLog::new(folder.path().to_owned(), reflector::store().0, Arc::new(Everybody));
        let (path, about) = (
            folder.path().join("job"),
            About { operation: "a".into(), namespace: "n".into(), pod: "p".into(), api: None },
        );
        let (go, wait) = mpsc::channel::<()>();
        let slow = move || wait.recv().map_err(io::Error::other).and_then(|()| Run::create(&path, &about));
        assert!(runs.opened("job", slow).now_or_never().is_none());
        let mut second = Box::pin(runs.opened("job", || panic!("opened twice")));
        assert!(futures::poll!(&mut second).is_pending());
        go.send(()).unwrap();
        assert_eq!(second.await.unwrap().extent().lines, 0);
    }
}
