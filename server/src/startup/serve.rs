//! Starts everything, serves until the stop, and ends everything in order.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use connections::descriptors::{self, Raised};
use connections::{Limits, plain};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::banner::Banner;
use super::kubernetes::{self, ConnectError, Connected};
use super::listen::{ListenError, listen};
use super::signing_key::{self, SigningKeyError};
use super::tasks::{STOP_WITHIN, Tasks};
use super::{address_file, demo, disk_room, rooms};
use crate::audit::{Audit, AuditLog};
use crate::config::{Kubernetes, Settings};
use crate::oidc::{Client, HttpError};
use crate::session::{Links, SessionError, Sessions, SignIn, TokenReviews, links};
use crate::web::assets::Site;
use crate::web::origin::OurOrigin;
use crate::web::readiness::Readiness;
use crate::web::router::router;
use crate::web::{Web, health, pages};

/// The flag that sets the console's address.
const FLAG: &str = "--listen";
/// The flag that sets the address of the port for probes.
const HEALTH_FLAG: &str = "--health-listen";

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
    #[error("--audit-log {0}: {1}. The server doesn't start without it.")]
    Audit(PathBuf, io::Error),
    #[error(transparent)]
    Oidc(#[from] HttpError),
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
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
    let descriptors = descriptors::raise();
    let listener = listen(FLAG, settings.listen).await?;
    let address = address(settings, &listener)?;
    let probes = match settings.health_listen {
        Some(address) => Some(listen(HEALTH_FLAG, address).await?),
        None => None,
    };
    disk::remove_leftovers(&settings.data_dir);
    let mut tasks = Tasks::default();
    let room = disk_room::watch(&settings.data_dir, &mut tasks, &stop);
    // In a cluster, the key is in a Secret that all replicas share.
    let signer = match settings.kubernetes {
        Kubernetes::Standalone => Some(signing_key::read_or_make(&settings.data_dir)?),
        Kubernetes::InCluster | Kubernetes::Kubeconfig { .. } => None,
    };
    let connected = kubernetes::connect(settings, descriptors, &mut tasks, &stop).await?;
    let mut readiness = Readiness::default();
    let (backend, metrics) = rooms::start(settings, &connected, &room, signer, &mut readiness, &mut tasks, &stop);
    let (sign_in, token) = sign_in(settings, &connected)?;
    let link = token.as_ref().map(|token| token.as_deref());
    let site = Site::embedded();
    let audit = audit(settings)?;
    let provider = settings.oidc.clone().map(|oidc| Client::new(oidc, &address)).transpose()?.map(Client::shared);
    let sessions = sessions(settings, &connected)?;
    let web = Arc::new(Web {
        sessions: match &provider {
            Some(provider) => sessions.renewed_by(provider.clone()),
            None => sessions,
        },
        sign_in,
        provider,
        audit,
        origin: settings.public_url.clone().map_or(OurOrigin::Loopback, OurOrigin::Public),
        pages: pages::console(backend.clone(), &site),
        site,
        readiness,
        room,
        backend,
        stop: stop.clone(),
        sockets: TaskTracker::new(),
    });
    if link.is_some() {
        match address_file::write(&settings.data_dir, &address) {
            Err(error) if disk::is_full(&error) => {
                let later = address_file::write_when_there_is_room(settings.data_dir.clone(), address.clone());
                let stop = stop.clone();
                tasks.spawn_once("the address", async move {
                    stop.run_until_cancelled(later).await;
                });
            }
            written => written.map_err(|error| ServeError::Write(address_file::path(&settings.data_dir), error))?,
        }
    }
    let banner = Banner {
        address: &address,
        mode: &connected.mode,
        data: &settings.data_dir,
        probes: probes.as_ref().map(TcpListener::local_addr).transpose().map_err(ServeError::Serve)?,
        kubeconfig: connected.kubeconfig(),
        isolation: connected.isolation.as_ref(),
        token: link,
    };
    if let Err(error) = disk::print(banner) {
        tracing::warn!(%error, "the address could not be printed");
    }
    if let Some(listener) = probes {
        let answering =
            connections::serve(listener, Limits::probes(), plain, health::router(web.clone(), metrics), stop.clone());
        tasks.spawn("probes", answering);
    }
    let signed_out = web.clone();
    let storing = stop.clone();
    tasks.spawn("sign-outs", async move {
        storing.run_until_cancelled(signed_out.sessions.store_pending()).await;
    });
    if settings.demo {
        tasks.spawn_once(
            "the demo",
            demo::register_when_ready(web.backend.clone(), web.readiness.clone(), stop.clone()),
        );
    }
    let served = answer(listener, descriptors, web, tasks, stop).await;
    address_file::remove(&settings.data_dir);
    connected.close().await;
    served
}

/// Answers requests until the stop, then closes sockets and joins every task.
async fn answer(
    listener: TcpListener,
    descriptors: Raised,
    web: Arc<Web>,
    mut tasks: Tasks,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let limits = Limits::console(descriptors.now);
    let mut server = tokio::spawn(connections::serve(listener, limits, plain, router(web.clone()), stop.clone()));
    let ended = tokio::select! {
        // The stop is checked first: the tasks end because of it, which is not an error.
        biased;
        () = stop.cancelled() => Ok(()),
        name = tasks.broken() => Err(ServeError::Broken(name)),
        ended = &mut server => ended.map_err(|error| ServeError::Serve(io::Error::other(error))),
    };
    stop.cancel();
    web.sockets.close();
    let quiet = async {
        web.sockets.wait().await;
        if !server.is_finished() {
            let _ = (&mut server).await;
        }
    };
    if timeout(STOP_WITHIN, quiet).await.is_err() {
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

/// The audit log, if there is to be one and it can be written.
fn audit(settings: &Settings) -> Result<Option<Arc<Audit>>, ServeError> {
    let Some(to) = settings.audit_log.clone() else { return Ok(None) };
    let path = match &to {
        AuditLog::Stdout => PathBuf::from("-"),
        AuditLog::File(path) => path.clone(),
    };
    let audit = Audit::new(to);
    audit.check().map_err(|error| ServeError::Audit(path, error))?;
    Ok(Some(Arc::new(audit)))
}

type FirstLink = Result<String, SessionError>;

/// How people sign in. Standalone, also the token of a first link, or the reason why it could not be stored: on a full disk the server
/// starts without one.
fn sign_in(settings: &Settings, connected: &Connected) -> Result<(SignIn, Option<FirstLink>), ServeError> {
    if settings.kubernetes != Kubernetes::Standalone {
        return Ok((SignIn::Tokens(Arc::new(TokenReviews(connected.client.clone()))), None));
    }
    let links = Links::open(&settings.data_dir)?;
    let token = match links.make(&links::this_user()) {
        Err(error) if !error.is_full_disk() => return Err(error.into()),
        token => token,
    };
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
