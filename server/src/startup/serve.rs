//! Starts everything, serves until the stop, and ends everything in order.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::banner::Banner;
use super::kubernetes::{self, ConnectError, Connected};
use super::listen::{ListenError, listen};
use super::tasks::{PATIENCE, Tasks};
use super::{address_file, demo, rooms};
use crate::config::{Kubernetes, Settings};
use crate::session::{Links, SessionError, Sessions, SignIn, TokenReviews, links};
use crate::web::assets::Site;
use crate::web::origin::OurOrigin;
use crate::web::readiness::Readiness;
use crate::web::router::router;
use crate::web::{Web, pages};

/// The flag that sets the console's address.
const FLAG: &str = "--listen";

/// Why the server didn't start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("can't create the data directory {0}: {1}. Choose another one with --data-dir, or create it yourself.")]
    DataDir(PathBuf, io::Error),
    #[error(
        "{0} contains other files and is not a data directory of kubeonkube. Choose an empty or new directory with --data-dir."
    )]
    NotOurs(PathBuf),
    #[error(transparent)]
    Lock(#[from] standalone::lock::LockError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Kubernetes(#[from] ConnectError),
    #[error("can't write {0}: {1}. Check that you own the data directory and that its disk has space.")]
    Write(PathBuf, io::Error),
    #[error("the web server failed: {0}")]
    Serve(io::Error),
    #[error(
        "a part of the server ended unexpectedly ({0}); see the log for the reason. Runs continue. Start the server again."
    )]
    Broken(String),
}

/// Serves until `stop` is cancelled, then ends everything except the runs.
pub async fn serve(settings: &Settings, stop: CancellationToken) -> Result<(), ServeError> {
    make_private(settings)?;
    let _lock = standalone::lock::take(&settings.data_dir)?;
    let listener = listen(FLAG, settings.listen).await?;
    let address = address(settings, &listener)?;
    let mut tasks = Tasks::default();
    let connected = kubernetes::connect(settings, &mut tasks, &stop).await?;
    let mut readiness = Readiness::default();
    let backend = rooms::start(settings, &connected, &mut readiness, &mut tasks, &stop);
    let (sign_in, token) = sign_in(settings, &connected)?;
    let site = Site::embedded();
    let web = Arc::new(Web {
        sessions: sessions(settings, &connected)?,
        sign_in,
        origin: settings.public_url.clone().map_or(OurOrigin::Loopback, OurOrigin::Public),
        pages: pages::console(backend.clone(), &site),
        site,
        readiness,
        backend,
        stop: stop.clone(),
        sockets: TaskTracker::new(),
    });
    if token.is_some() {
        let written = address_file::write(&settings.data_dir, &address);
        written.map_err(|error| ServeError::Write(address_file::path(&settings.data_dir), error))?;
    }
    print!(
        "{}",
        Banner {
            address: &address,
            mode: &connected.mode,
            data: &settings.data_dir,
            kubeconfig: connected.kubeconfig(),
            token: token.as_deref(),
        }
    );
    if settings.demo {
        tasks.spawn_once(
            "the demo",
            demo::register_when_ready(web.backend.clone(), web.readiness.clone(), stop.clone()),
        );
    }
    let served = answer(listener, web, tasks, stop).await;
    address_file::remove(&settings.data_dir);
    connected.close().await;
    served
}

/// Answers requests until the stop, then closes sockets and joins every task.
async fn answer(
    listener: TcpListener,
    web: Arc<Web>,
    mut tasks: Tasks,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    // Without TCP_NODELAY, a streamed page waits up to 40 ms for a delayed acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, router(web.clone())).with_graceful_shutdown(stop.clone().cancelled_owned());
    let mut server = tokio::spawn(server.into_future());
    let ended = tokio::select! {
        // The stop is checked first: the tasks end because of it, which is not an error.
        biased;
        () = stop.cancelled() => Ok(()),
        name = tasks.broken() => Err(ServeError::Broken(name)),
        ended = &mut server => ended.map_err(io::Error::other).and_then(|ended| ended).map_err(ServeError::Serve),
    };
    stop.cancel();
    web.sockets.close();
    let quiet = async {
        web.sockets.wait().await;
        if !server.is_finished() {
            let _ = (&mut server).await;
        }
    };
    if timeout(PATIENCE, quiet).await.is_err() {
        tracing::warn!("some requests didn't end in time and were aborted");
        server.abort();
    }
    tasks.join().await;
    ended
}

/// The address that people open.
fn address(settings: &Settings, listener: &TcpListener) -> Result<String, ServeError> {
    let bound = listener.local_addr().map_err(|error| ListenError::Failed(FLAG, settings.listen, error))?;
    Ok(settings.public_url.as_ref().map_or_else(|| format!("http://{bound}"), ToString::to_string))
}

/// The sessions of people who signed in to this API.
fn sessions(settings: &Settings, connected: &Connected) -> Result<Sessions, SessionError> {
    Sessions::open(&settings.data_dir, &connected.identity(), settings.public_url.as_ref().is_some_and(|url| url.https))
}

fn sign_in(settings: &Settings, connected: &Connected) -> Result<(SignIn, Option<String>), ServeError> {
    if settings.kubernetes != Kubernetes::Standalone {
        return Ok((SignIn::Tokens(Arc::new(TokenReviews(connected.client.clone()))), None));
    }
    let links = Links::open(&settings.data_dir)?;
    let token = links.make(&links::this_user())?;
    Ok((SignIn::Links(links), Some(token)))
}

/// Creates the data directory and removes the access of other users, because it contains keys and tokens.
fn make_private(settings: &Settings) -> Result<(), ServeError> {
    let data = &settings.data_dir;
    let failed = |error| ServeError::DataDir(data.clone(), error);
    DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(failed)?;
    // A mistyped --data-dir (a home directory, /tmp) must not lock out the other users of that directory.
    let mut names = std::fs::read_dir(data).map_err(failed)?.flatten().map(|entry| entry.file_name());
    if !data.join("lock").exists() && names.any(|name| name != "lost+found") {
        return Err(ServeError::NotOurs(data.clone()));
    }
    let closed = std::fs::set_permissions(data, PermissionsExt::from_mode(0o700));
    // In a pod, the volume belongs to root and can't be changed. No other user has access to it there.
    if settings.kubernetes == Kubernetes::InCluster { Ok(()) } else { closed.map_err(failed) }
}
