//! `kubeonkube serve`: from settings to a console that answers, and back to nothing in order.

use std::{
    fs::DirBuilder,
    io,
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::PathBuf,
    sync::Arc,
};

use axum::serve::ListenerExt;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    assets::Site,
    banner::Banner,
    config::{Kubernetes, Settings},
    demo,
    guard::same_origin::OurOrigin,
    health::Readiness,
    kubernetes::{self, Connected},
    login, pages, rooms,
    router::{Web, router},
    session::{Links, SessionError, Sessions, TokenReviews, links, page::SignIn},
    shutdown::{PATIENCE, Tasks},
};

/// Why the server doesn't start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the data directory {0} can't be made: {1}. Choose another one with --data-dir, or make it yourself.")]
    DataDir(PathBuf, io::Error),
    #[error(
        "{0} has other things in it and is no data directory of kubeonkube. Choose an empty or new one with --data-dir."
    )]
    NotOurs(PathBuf),
    #[error(transparent)]
    Lock(#[from] standalone::lock::LockError),
    #[error("{1} is taken by another program: choose another address with {0}, or port 0 for any free one.")]
    Taken(&'static str, SocketAddr),
    #[error("{0} {1} can't be listened on: {2}.")]
    Listen(&'static str, SocketAddr, io::Error),
    #[error(transparent)]
    Api(#[from] standalone::OpenError),
    #[error(transparent)]
    Identity(#[from] standalone::IdentityError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Kubernetes(#[from] kubernetes::ConnectError),
    #[error("{0} can't be written: {1}. Check that you own the data directory and that its disk has room.")]
    Write(PathBuf, io::Error),
    #[error("serving ended: {0}")]
    Serve(io::Error),
    #[error("an inner part ended unexpectedly ({0}); the log says why. Runs go on; start the server again.")]
    Broken(String),
}

/// Serves until `stop` is cancelled, then ends everything but the runs.
pub async fn serve(settings: &Settings, stop: CancellationToken) -> Result<(), ServeError> {
    make_private(settings)?;
    let _lock = standalone::lock::take(&settings.data_dir)?;
    let listener = listen("--listen", settings.listen).await?;
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
        let written = login::announce(&settings.data_dir, &address);
        written.map_err(|error| ServeError::Write(settings.data_dir.join("address"), error))?;
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
        tasks.spawn_once("the demo", demo::register_when_ready(web.clone(), stop.clone()));
    }
    let served = answer(listener, web, tasks, stop).await;
    login::withdraw(&settings.data_dir);
    connected.close().await;
    served
}

/// Answers requests until the end, then closes sockets and joins every task.
async fn answer(
    listener: TcpListener,
    web: Arc<Web>,
    mut tasks: Tasks,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    // Without this a streamed page waits 40 ms for an acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, router(web.clone())).with_graceful_shutdown(stop.clone().cancelled_owned());
    let mut server = tokio::spawn(server.into_future());
    let ended = tokio::select! {
        // First: once it is cancelled the tasks end too, and rightly.
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
        tracing::warn!("some requests did not end in time");
        server.abort();
    }
    tasks.join().await;
    ended
}

/// What people open.
fn address(settings: &Settings, listener: &TcpListener) -> Result<String, ServeError> {
    let bound = listener.local_addr().map_err(|error| ServeError::Listen("--listen", settings.listen, error))?;
    Ok(settings.public_url.as_ref().map_or_else(|| format!("http://{bound}"), ToString::to_string))
}

/// The sessions of those who signed in to this very API.
fn sessions(settings: &Settings, connected: &Connected) -> Result<Sessions, SessionError> {
    Sessions::open(
        &settings.data_dir,
        &connected.told_apart(),
        settings.public_url.as_ref().is_some_and(|url| url.https),
    )
}

fn sign_in(settings: &Settings, connected: &Connected) -> Result<(SignIn, Option<String>), ServeError> {
    if settings.kubernetes != Kubernetes::Standalone {
        return Ok((SignIn::Tokens(Arc::new(TokenReviews(connected.client.clone()))), None));
    }
    let links = Links::open(&settings.data_dir)?;
    let token = links.make(&links::this_person())?;
    Ok((SignIn::Links(links), Some(token)))
}

/// Makes the data directory, which holds keys and tokens, ours alone.
fn make_private(settings: &Settings) -> Result<(), ServeError> {
    let data = &settings.data_dir;
    let failed = |error| ServeError::DataDir(data.clone(), error);
    DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(failed)?;
    // Somebody else's directory (a home, /tmp) must not be closed to everybody because of a slip.
    let mut names = std::fs::read_dir(data).map_err(failed)?.flatten().map(|entry| entry.file_name());
    if !data.join("lock").exists() && names.any(|name| name != "lost+found") {
        return Err(ServeError::NotOurs(data.clone()));
    }
    let closed = std::fs::set_permissions(data, PermissionsExt::from_mode(0o700));
    // A volume in a pod belongs to root, and nobody else is there.
    if settings.kubernetes == Kubernetes::InCluster { Ok(()) } else { closed.map_err(failed) }
}

/// A listener, or the reason why there is none.
pub(crate) async fn listen(flag: &'static str, address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::Taken(flag, address),
        _ => ServeError::Listen(flag, address, error),
    })
}
