//! Opening and closing the embedded API, and the clients of it in this process.

use std::convert::Infallible;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::http::{Request, Response};
use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use parking_lot::Mutex;
use rand::Rng;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::http::Server;
use crate::kind::{CustomError, Kinds};
use crate::pod_log::PodLogs;
use crate::store::{DiskError, Store};
use crate::verbs::Objects;
use crate::{collector, first_objects};

/// The settings of an [`Api`].
pub struct Options {
    /// The directory of `state.db`. It is created with mode 0700 if it is missing.
    pub data_dir: PathBuf,
    /// The custom resources to serve. They are installed at start; clients can only read them.
    pub crds: Vec<CustomResourceDefinition>,
    /// The source of pod logs: the runner.
    pub logs: Arc<dyn PodLogs>,
}

/// The reason why the API can't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    #[error(
        "the data directory {0} can't be used: {1}. Check its owner and permissions, or choose another one with --data-dir."
    )]
    DataDir(PathBuf, std::io::Error),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Definition(#[from] CustomError),
    #[error("the first objects could not be stored: {0}")]
    First(String),
}

/// The embedded API. [`Api::close`] ends it in order. Dropping it ends it, too, without waiting.
pub struct Api {
    server: Arc<Server>,
    shutdown: CancellationToken,
    collector: Mutex<Option<JoinHandle<()>>>,
}

impl Api {
    /// Opens the state file and starts the garbage collector. A file of an older format is copied, then migrated. Must be
    /// called inside a tokio runtime, and after taking the [`crate::lock`]: a second process with the same file would not
    /// see the writes of this one.
    pub fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let Options { data_dir, crds, logs } = options;
        let file = data_dir.join("state.db");
        // A directory that exists keeps its mode, because it may be shared on purpose. The file is always private: it holds
        // Secrets, the token and a key.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&data_dir).and_then(|()| {
            let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&file)?;
            opened.set_permissions(Permissions::from_mode(0o600))
        });
        made.map_err(|error| OpenError::DataDir(data_dir.clone(), error))?;
        let kinds = Kinds::new(&crds)?;
        let store = Store::open(&file)?;
        let token = store.setting("token", random_token)?;
        let objects = Arc::new(Objects { kinds, store });
        // Blocking here can't deadlock the runtime, because the store answers from its own thread. Unconstrained,
        // because tokio's cooperative budget would run out: only a return to the scheduler refills it.
        futures::executor::block_on(tokio::task::unconstrained(first_objects::ensure(&objects, &crds)))
            .map_err(|failure| OpenError::First(failure.message))?;
        let shutdown = CancellationToken::new();
        let collector = tokio::spawn(collector::run(objects.clone(), shutdown.clone()));
        let server = Arc::new(Server::new(objects, logs, shutdown.clone(), token));
        Ok(Arc::new(Self { server, shutdown, collector: Mutex::new(Some(collector)) }))
    }

    /// A client whose requests are answered in this process, as those of `user`. Its namespace is `default`. Must be called
    /// inside a tokio runtime.
    pub fn client(&self, user: &str) -> kube::Client {
        let (server, user): (_, Arc<str>) = (self.server.clone(), user.into());
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let (server, user) = (server.clone(), user.clone());
            async move { Ok::<_, Infallible>(server.answer(user, request.map(Body::new)).await) }
        });
        kube::Client::new(service, "default")
    }

    /// The service of the HTTPS port, which authenticates requests by their bearer token.
    pub fn service<B>(&self) -> ApiService<B>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let server = self.server.clone();
        tower::service_fn(move |request: Request<B>| {
            let server = server.clone();
            let answer: BoxFuture<'static, _> =
                Box::pin(async move { Ok(server.authenticated(request.map(Body::new)).await) });
            answer
        })
        .boxed_clone()
    }

    /// The bearer token of the HTTPS port. It gives every right, and is kept in the state file.
    pub fn token(&self) -> &str {
        &self.server.token
    }

    /// How many requests panicked since the start. Each is a bug and is in the log.
    pub fn panics(&self) -> u64 {
        self.server.panics.load(Ordering::Relaxed)
    }

    /// A token that is cancelled when the API closes.
    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// See [`Store::setting`].
    pub(crate) fn setting(&self, name: &'static str, make: impl FnOnce() -> String) -> Result<String, DiskError> {
        self.server.objects.store.setting(name, make)
    }

    /// Ends watches and followed logs, stops the garbage collector, commits and closes the state file. Later writes get 503.
    pub async fn close(&self) {
        self.shutdown.cancel();
        let collector = self.collector.lock().take();
        if let Some(collector) = collector {
            drop(collector.await);
        }
        let server = self.server.clone();
        // Waits for the writer thread, which may be in an fsync.
        drop(tokio::task::spawn_blocking(move || server.objects.store.close()).await);
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// The service of [`Api::service`].
pub type ApiService<B> = tower::util::BoxCloneService<Request<B>, Response<Body>, Infallible>;

fn random_token() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
