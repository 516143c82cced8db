//! The embedded API as the rest of the program sees it.

use std::convert::Infallible;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::http::{Request, Response};
use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
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

/// What the API is made of.
pub struct Options {
    /// Where `state.db` lies; made (0700) if it is missing.
    pub data_dir: PathBuf,
    /// The custom resources to serve.
    pub crds: Vec<CustomResourceDefinition>,
    /// Who has the output of pods; [`crate::NoLogs`] if nobody runs any.
    pub logs: Arc<dyn PodLogs>,
}

/// Why the API can't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    #[error(
        "the data directory {0} can't be used: {1}. Choose another one with --data-dir, or make it yourself and own it."
    )]
    DataDir(PathBuf, std::io::Error),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Definition(#[from] CustomError),
    #[error("the first objects could not be stored: {0}")]
    First(String),
}

/// The embedded API. Ends with [`Api::close`]; dropping it ends it too, without waiting.
pub struct Api {
    server: Arc<Server>,
    file: PathBuf,
    shutdown: CancellationToken,
    collector: Mutex<Option<JoinHandle<()>>>,
}

impl Api {
    /// Opens the state, upgrading it after a copy if it is older, and starts the garbage collector. Has to be called
    /// inside a tokio runtime. Take the [`crate::lock`] first: two writers on one file would each believe in their own
    /// memory.
    pub fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let Options { data_dir, crds, logs } = options;
        let file = data_dir.join("state.db");
        // A directory that exists keeps its mode: it may be shared on purpose. The file in it is nobody else's business
        // in any case.
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&data_dir).and_then(|()| {
            std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&file)?.set_permissions(secret())
        });
        made.map_err(|error| OpenError::DataDir(data_dir.clone(), error))?;
        let kinds = Kinds::new(&crds)?;
        let store = Store::open(&file)?;
        let token = store.setting("token", random_token)?;
        let objects = Arc::new(Objects { kinds, store });
        // The store answers from its own thread, so blocking here needs nothing of the runtime; unconstrained, because
        // the budget of the task we may be in would otherwise never be refilled.
        futures::executor::block_on(tokio::task::unconstrained(first_objects::ensure(&objects, &crds)))
            .map_err(|failure| OpenError::First(failure.message))?;
        let shutdown = CancellationToken::new();
        let collector = tokio::spawn(collector::run(objects.clone(), shutdown.clone()));
        let server = Arc::new(Server::new(objects, logs, shutdown.clone(), token));
        Ok(Arc::new(Self { server, file, shutdown, collector: Mutex::new(Some(collector)) }))
    }

    /// A client whose requests are answered in this process, as `user`. The default namespace is `default`. Call it
    /// inside a tokio runtime.
    pub fn client(&self, user: &str) -> kube::Client {
        let (server, user): (_, Arc<str>) = (self.server.clone(), user.into());
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let (server, user) = (server.clone(), user.clone());
            async move { Ok::<_, Infallible>(server.answer(user, request).await) }
        });
        kube::Client::new(service, "default")
    }

    /// The service behind the HTTPS port: a bearer token decides who asks.
    pub fn service<B>(&self) -> ApiService<B>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let server = self.server.clone();
        tower::service_fn(move |request: Request<B>| {
            let server = server.clone();
            let answer: BoxFuture<'static, _> = Box::pin(async move { Ok(server.authenticated(request).await) });
            answer
        })
        .boxed_clone()
    }

    /// The bearer token of the HTTPS port. It gives every right; it is kept in the state file.
    pub fn token(&self) -> &str {
        &self.server.token
    }

    /// The SQLite file.
    pub fn state_file(&self) -> &Path {
        &self.file
    }

    /// Cancelled when the API closes.
    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    pub(crate) fn setting(&self, name: &'static str, make: impl FnOnce() -> String) -> Result<String, DiskError> {
        self.server.objects.store.setting(name, make)
    }

    /// Ends watches and followed logs, stops the collector, commits and closes the state file. Later requests get 503.
    pub async fn close(&self) {
        self.shutdown.cancel();
        let collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(collector) = collector {
            drop(collector.await);
        }
        let server = self.server.clone();
        // Joins the writer thread, which may be in the middle of an fsync.
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

/// The mode of files that hold the token and keys.
fn secret() -> std::fs::Permissions {
    std::fs::Permissions::from_mode(0o600)
}

fn random_token() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
