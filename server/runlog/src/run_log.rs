//! All runs: their open journals, their pods, and the decision who may read them.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::{OperationName, Problem, User};
use async_trait::async_trait;
use crd::{ClusterOperation, JobRef};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Api, Client};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore, watch};
use tokio::time::timeout;

use crate::pod::PodFacts;
use crate::run::{self, About, StoredRun};

/// If more journals than this are open, unused ones are closed.
const OPEN_RUNS: usize = 256;
/// Searches that run at the same time. Each one keeps a processor busy.
const SEARCHES: usize = 2;
/// How long a request waits for the store to fill after start-up.
const FILLING: Duration = Duration::from_secs(20);
/// How long a request waits for the API to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Decides who may read the logs of runs.
#[async_trait]
pub trait Readers: Send + Sync {
    /// Whether `user` may see this operation and, once the namespace of its Job is known, read the logs of pods there. The
    /// error says why not.
    async fn may_read(&self, user: &User, run: &OperationName, namespace: Option<&str>) -> Result<(), Problem>;
}

/// Every signed-in user may read: standalone has no other rights.
pub struct Everybody;

#[async_trait]
impl Readers for Everybody {
    async fn may_read(&self, _: &User, _: &OperationName, _: Option<&str>) -> Result<(), Problem> {
        Ok(())
    }
}

type Opened = Arc<OnceCell<Arc<StoredRun>>>;

/// All runs: those being collected, and those on disk. Clones share their state.
#[derive(Clone)]
pub struct RunLog {
    /// The folder of all runs.
    pub(crate) spool: PathBuf,
    /// The identity of the API server, once it is known ([`crate::api_identity`]).
    pub(crate) api: Arc<OnceLock<String>>,
    client: Client,
    pub(crate) operations: Store<ClusterOperation>,
    /// Whether `operations` is filled. Until then, an operation may exist although it isn't in the store.
    pub(crate) filled: Arc<watch::Sender<bool>>,
    pub(crate) readers: Arc<dyn Readers>,
    /// By the Job's uid.
    runs: Arc<Mutex<HashMap<String, Opened>>>,
    /// The existing pods, by the Job's uid.
    pub(crate) pods: Arc<Mutex<HashMap<String, watch::Sender<PodFacts>>>>,
    pub(crate) searches: Arc<Semaphore>,
}

impl RunLog {
    pub(crate) fn new(
        spool: PathBuf,
        client: Client,
        operations: Store<ClusterOperation>,
        readers: Arc<dyn Readers>,
    ) -> Self {
        Self {
            spool,
            api: Arc::default(),
            client,
            operations,
            filled: Arc::default(),
            readers,
            runs: Arc::default(),
            pods: Arc::default(),
            searches: Arc::new(Semaphore::new(SEARCHES)),
        }
    }

    /// The run of a Job, for writing. Creates it if it doesn't exist.
    pub(crate) async fn create(&self, job: &str, about: About) -> io::Result<Arc<StoredRun>> {
        let folder = run::folder(&self.spool, job)
            .ok_or_else(|| io::Error::other("the Job's uid can't be the name of a folder"))?;
        self.opened(job, move || StoredRun::create(&folder, &about)).await
    }

    /// The run of a Job, if it is on disk.
    async fn find(&self, job: &str) -> io::Result<Option<Arc<StoredRun>>> {
        let Some(folder) = run::folder(&self.spool, job) else { return Ok(None) };
        match self.opened(job, move || StoredRun::open(&folder)).await {
            Ok(run) => Ok(Some(run)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the journal of a run, or returns it if it is already open. Two at once get the same one.
    async fn opened(
        &self,
        job: &str,
        open: impl FnOnce() -> io::Result<StoredRun> + Send + 'static,
    ) -> io::Result<Arc<StoredRun>> {
        let cell = {
            let mut runs = self.runs.lock();
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
        // Spawned, so that it finishes even if the caller is dropped. A second `open` beside it could cut off what the first
        // one has already written.
        let opening = tokio::spawn(async move { cell.get_or_try_init(open).await.cloned() });
        opening.await.map_err(io::Error::other)?
    }

    /// Deletes the run's folder, given the uid of its Job, and ends its readers.
    pub async fn forget(&self, job: &str) -> io::Result<()> {
        let cell = self.runs.lock().remove(job);
        if let Some(run) = cell.as_ref().and_then(|c| c.get()) {
            run.end_readers();
        }
        let Some(folder) = run::folder(&self.spool, job) else { return Ok(()) };
        match tokio::task::spawn_blocking(move || std::fs::remove_dir_all(folder)).await.map_err(io::Error::other)? {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn pod(&self, job: &str) -> Option<PodFacts> {
        self.pods.lock().get(job).map(|facts| facts.borrow().clone())
    }

    /// The operation from the store, or from the API: a new operation reaches the store with a delay, but the browser opens its page
    /// right after creating it. Asks the API with the server's rights, so check the user's first.
    async fn operation(&self, name: &OperationName) -> Result<Arc<ClusterOperation>, Problem> {
        let find = || self.operations.get(&ObjectRef::new(name.as_str()));
        if let Some(found) = find() {
            return Ok(found);
        }
        drop(timeout(FILLING, self.filled.subscribe().wait_for(|filled| *filled)).await);
        if let Some(found) = find() {
            return Ok(found);
        }
        let operations: Api<ClusterOperation> = Api::all(self.client.clone());
        let answered = timeout(ANSWER_WITHIN, operations.get_opt(name.as_str())).await;
        let answered = answered.unwrap_or_else(|elapsed| Err(kube::Error::Service(Box::new(elapsed))));
        let found = answered.map_err(|error| {
            tracing::warn!(operation = %name, %error, "cannot read an operation that isn't in the store");
            Problem::Unavailable {
                message: format!(
                    "The operation {name} can't be read from the Kubernetes API. Try again in a moment. See the server's log for details."
                ),
            }
        })?;
        found.map(Arc::new).ok_or_else(|| Problem::NotFound { what: "operation".into(), name: name.to_string() })
    }

    /// The operation, if the user may read its run.
    pub(crate) async fn permitted(&self, user: &User, name: &OperationName) -> Result<Arc<ClusterOperation>, Problem> {
        self.readers.may_read(user, name, None).await?;
        let operation = self.operation(name).await?;
        if let Some((job, _)) = job(&operation) {
            self.readers.may_read(user, name, Some(&job.namespace)).await?;
        }
        Ok(operation)
    }

    /// The operation, if the user may read its run, and the run if it is on disk.
    pub(crate) async fn authorised(
        &self,
        user: &User,
        name: &OperationName,
    ) -> Result<(Arc<ClusterOperation>, Option<Arc<StoredRun>>), Problem> {
        let operation = self.permitted(user, name).await?;
        let run = match job(&operation) {
            Some((_, uid)) => self.find(uid).await.map_err(|error| unreadable(&error))?,
            None => None,
        };
        Ok((operation, run))
    }
}

/// The Job of an operation and its uid; `None` until its Job is known.
pub(crate) fn job(operation: &ClusterOperation) -> Option<(&JobRef, &str)> {
    let job = operation.status.as_ref()?.job_ref.as_ref()?;
    Some((job, job.uid.as_deref()?))
}

/// Logs the error, which is of no use to a viewer.
pub(crate) fn unreadable(error: &io::Error) -> Problem {
    tracing::error!(%error, "cannot read the log of a run");
    Problem::Internal
}

#[cfg(test)]
pub(crate) mod tests {
    use std::convert::Infallible;
    use std::sync::mpsc;

    use api::backend::Runs;
    use futures::FutureExt;
    use http::{Method, Request, Response, StatusCode};
    use kube::client::Body;
    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;

    /// An API server that answers each request with this status and object. Only the operation `grow` or `gone` may be read.
    fn answering(status: StatusCode, object: &serde_json::Value) -> Client {
        let object = object.to_string();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (path, name) = request.uri().path().rsplit_once('/').unwrap();
            assert_eq!((request.method(), path), (&Method::GET, "/apis/kubeonkube.clay.io/v1alpha1/clusteroperations"));
            assert!(["grow", "gone"].contains(&name), "{name}");
            let answer = Response::builder().status(status).body(Body::from(object.clone().into_bytes())).unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        Client::new(service, "default")
    }

    /// An API server without operations.
    pub(crate) fn no_operations() -> Client {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404});
        answering(StatusCode::NOT_FOUND, &status)
    }

    fn grow() -> ClusterOperation {
        ClusterOperation::new("grow", crd::ClusterOperationSpec::default())
    }

    /// The logs of an API server, and what writes its operations to the store.
    fn runs(client: Client) -> (RunLog, reflector::store::Writer<ClusterOperation>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let (store, writer) = reflector::store();
        (RunLog::new(folder.path().to_owned(), client, store, Arc::new(Everybody)), writer, folder)
    }

    #[tokio::test]
    async fn a_request_waits_until_the_store_is_filled() {
        let (runs, mut writer, _folder) = runs(no_operations());
        let (name, gone) = ("grow".parse().unwrap(), "gone".parse().unwrap());
        let mut early = Box::pin(runs.operation(&name));
        assert!(futures::poll!(&mut early).is_pending());
        writer.apply_watcher_event(&Event::Apply(grow()));
        runs.filled.send_replace(true);
        assert!(early.await.is_ok());
        assert!(matches!(runs.operation(&gone).await, Err(Problem::NotFound { .. })));
    }

    #[tokio::test]
    async fn an_operation_that_the_store_lacks_is_read_from_the_api() {
        let (runs, _writer, _folder) = runs(answering(StatusCode::OK, &serde_json::to_value(grow()).unwrap()));
        runs.filled.send_replace(true);
        let name = "grow".parse().unwrap();
        assert_eq!(runs.operation(&name).await.unwrap().metadata.name.as_deref(), Some("grow"));
        let user = User { name: "ada".into(), token: None };
        let record = runs.record(&user, &name, 0, 10).await.unwrap();
        assert_eq!(record.log.total, 0);
    }

    /// Nobody may read.
    struct Nobody;

    #[async_trait]
    impl Readers for Nobody {
        async fn may_read(&self, _: &User, _: &OperationName, _: Option<&str>) -> Result<(), Problem> {
            Err(Problem::Forbidden { message: "no".into() })
        }
    }

    #[tokio::test]
    async fn a_user_without_rights_does_not_learn_what_exists() {
        let (runs, _writer, _folder) = runs(no_operations());
        let runs = RunLog { readers: Arc::new(Nobody), ..runs };
        runs.filled.send_replace(true);
        let user = User { name: "eve".into(), token: None };
        let refused = runs.permitted(&user, &"grow".parse().unwrap()).await;
        assert!(matches!(refused, Err(Problem::Forbidden { .. })));
    }

    #[tokio::test]
    async fn an_api_without_an_answer_is_unavailable() {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError", "code": 500});
        let (runs, _writer, _folder) = runs(answering(StatusCode::INTERNAL_SERVER_ERROR, &status));
        runs.filled.send_replace(true);
        assert!(matches!(runs.operation(&"grow".parse().unwrap()).await, Err(Problem::Unavailable { .. })));
    }

    #[tokio::test]
    async fn a_journal_is_opened_once_although_the_first_caller_left() {
        let (runs, _writer, folder) = runs(no_operations());
        let (path, about) = (
            folder.path().join("job"),
            About { operation: "a".into(), namespace: "n".into(), pod: "p".into(), api: None },
        );
        let (go, wait) = mpsc::channel::<()>();
        let slow = move || wait.recv().map_err(io::Error::other).and_then(|()| StoredRun::create(&path, &about));
        assert!(runs.opened("job", slow).now_or_never().is_none());
        let mut second = Box::pin(runs.opened("job", || panic!("opened twice")));
        assert!(futures::poll!(&mut second).is_pending());
        go.send(()).unwrap();
        assert_eq!(second.await.unwrap().extent().lines, 0);
    }
}
