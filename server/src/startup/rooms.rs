//! Starts the controller, the console and the log collector, in this order, and connects them to each other. Each needs the ones
//! before it: the console and the log collector read the controller's stores, and in a cluster the log collector asks the
//! console which users may read a log.

use std::sync::Arc;

use api::backend::{About, Notice};
use api::{Backend, OperationName, Problem, User};
use async_trait::async_trait;
use console::{Change, Console, Playbooks};
use controller::{ChangeKind, Running, Signer};
use disk::Room;
use futures::StreamExt;
use kube::ResourceExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;

use super::kubernetes::Connected;
use super::machines::Machines;
use super::tasks::Tasks;
use crate::config::{Kubernetes, Settings};
use crate::metrics::{self, Metrics};
use crate::web::readiness::Readiness;

/// Returns the backend for the pages, and the figures about it.
pub(super) fn start(
    settings: &Settings,
    connected: &Connected,
    room: &watch::Receiver<Room>,
    signer: Option<Signer>,
    readiness: &mut Readiness,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> (Backend, Arc<Metrics>) {
    let (client, namespace) = (connected.client.clone(), connected.client.default_namespace().to_owned());
    let standalone = settings.kubernetes == Kubernetes::Standalone;
    // Standalone, a condition says that nothing can be hosted.
    let reach = match settings.kubernetes {
        Kubernetes::Standalone => hosted::Reach::Never,
        Kubernetes::InCluster => hosted::Reach::Inside,
        Kubernetes::Kubeconfig { .. } => hosted::Reach::Outside,
    };
    let hosting = hosted::Config { reach };
    let config = controller::Config {
        joining: Some(Arc::new(Machines(hosted::Machines::new(client.clone(), hosting)))),
        max_running: settings.max_running,
        inputs_timeout: settings.inputs_timeout,
        controller_namespace: namespace.clone(),
        room: room.clone(),
        signer,
        ..controller::Config::default()
    };
    let (running, controlling) = controller::start(client.clone(), config, stop.clone());
    tasks.adopt("controller", controlling);

    let wake = changed_clusters(running.clone());
    let hosting = hosted::start(client.clone(), running.clusters.clone(), wake, hosting, stop.clone());
    tasks.spawn("hosted clusters", hosting);

    let options = console::Options {
        client: client.clone(),
        user_clients: connected.config.as_ref().map(console::user_clients),
        clusters: running.clusters.clone(),
        operations: running.operations.clone(),
        namespace: settings.clusters_namespace.clone().unwrap_or(namespace),
        image: settings.runner_image.as_str().to_owned(),
        playbooks: if standalone { Playbooks::Local } else { Playbooks::Image },
        signing: running.signing.clone(),
        availability: settings.data_dir.join("availability"),
    };
    let (console, working) = console::start(options, stop.clone());
    let filled = running.clone();
    tasks.spawn("console", async move {
        if filled.ready().await {
            working.await;
        }
    });
    tasks.spawn("changes", forward_changes(running.clone(), console.clone(), stop.clone()));
    tasks.spawn("notices", announce(room.clone(), console.clone(), stop.clone()));

    let readers: Arc<dyn runlog::Readers> =
        if standalone { Arc::new(runlog::Everybody) } else { Arc::new(AsTheConsole(console.clone())) };
    let unread = running.unread_operations.clone();
    let is_unread: runlog::IsUnread = Arc::new(move |name| unread.contains(name));
    let options = runlog::Options { dir: settings.data_dir.join("logs"), readers, is_unread };
    let (runs, collecting) = runlog::start(client, options, running.operations.clone(), stop.clone());
    // The console shows the last result of each machine, which it reads from the logs. The logs need the console (`readers`), so
    // they are started after it, and the console gets them only now.
    console.ask_runs(runs.clone());
    let (gate, filled) = (readiness.awaits("clusters and operations"), running.clone());
    tasks.spawn("log collector", async move {
        // The collector reads the controller's stores, so it starts when they are filled.
        if filled.ready().await {
            gate.open();
            collecting.await;
        }
    });
    let metrics = Arc::new(Metrics::new(running));
    tasks.spawn("figures", metrics::count(metrics.clone(), stop.clone()));
    let console = Arc::new(console);
    let backend = Backend {
        clusters: console.clone(),
        creations: console.clone(),
        nodes: console.clone(),
        upgrades: console.clone(),
        configurations: console.clone(),
        operations: console.clone(),
        runs,
        changes: console,
        notice: notice(room.clone()),
        about: Arc::new(about(settings, connected)),
    };
    (backend, metrics)
}

/// What every page says about the disk.
fn notice(room: watch::Receiver<Room>) -> Notice {
    Arc::new(move || room.borrow().sentence())
}

/// Makes open pages load their notice again.
async fn announce(mut room: watch::Receiver<Room>, console: Console, stop: CancellationToken) {
    while let Some(Ok(())) = stop.run_until_cancelled(room.changed()).await {
        console.changed(Change::Notice);
    }
}

/// Forwards changes of the controller's stores to the console.
async fn forward_changes(running: Running, console: Console, stop: CancellationToken) {
    let mut changes = running.changes.subscribe();
    while let Some(change) = stop.run_until_cancelled(changes.recv()).await {
        match change {
            Ok(change) => forward(&change, &running, &console),
            // Some changes were dropped in a burst. Report everything as changed, which includes them.
            Err(RecvError::Lagged(_)) => forward_everything(&running, &console),
            Err(RecvError::Closed) => return,
        }
    }
}

/// The names of all Clusters once the stores are filled, then of those that change.
fn changed_clusters(running: Running) -> hosted::Wake {
    let mut changes = running.changes.subscribe();
    let (sender, names) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let all = |running: &Running| running.clusters.state().iter().map(|cluster| cluster.name_any()).collect();
        let mut names: Vec<String> = if running.ready().await { all(&running) } else { return };
        loop {
            if names.drain(..).any(|name| sender.send(name).is_err()) {
                return;
            }
            let change = tokio::select! {
                () = sender.closed() => return,
                change = changes.recv() => change,
            };
            names = match change {
                Ok(change) if change.kind == ChangeKind::Cluster => vec![change.name.to_string()],
                Ok(change) if change.kind == ChangeKind::Everything => all(&running),
                Ok(_) => Vec::new(),
                Err(RecvError::Lagged(_)) => all(&running),
                Err(RecvError::Closed) => return,
            };
        }
    });
    UnboundedReceiverStream::new(names).boxed()
}

fn forward(change: &controller::Change, running: &Running, console: &Console) {
    let name = change.name.to_string();
    match change.kind {
        ChangeKind::Cluster => console.changed(Change::Cluster(name)),
        ChangeKind::Operation | ChangeKind::Run => {
            console.changed(Change::Operation { name, cluster: change.cluster.to_string() });
        }
        ChangeKind::Inputs => {
            if let Some((namespace, name)) = name.split_once('/') {
                console.input_changed(namespace, name);
            }
        }
        ChangeKind::Settings => {}
        ChangeKind::Everything => forward_everything(running, console),
    }
}

/// Anything may have changed, so every page loads its data again.
fn forward_everything(running: &Running, console: &Console) {
    for cluster in running.clusters.state() {
        console.changed(Change::Cluster(cluster.name_any()));
    }
    for operation in running.operations.state() {
        console.changed(Change::Operation { name: operation.name_any(), cluster: operation.spec.cluster.clone() });
    }
}

/// In a cluster, the people who may read the log of a run's pod may read the run.
struct AsTheConsole(Console);

#[async_trait]
impl runlog::Readers for AsTheConsole {
    async fn may_read(&self, user: &User, _: &OperationName, namespace: Option<&str>) -> Result<(), Problem> {
        self.0.may_read_run(user, namespace).await
    }
}

fn about(settings: &Settings, connected: &Connected) -> About {
    let fact = |label: &str, value: String| (label.to_owned(), value);
    let mut facts = vec![fact("Data directory", settings.data_dir.display().to_string())];
    facts.extend(connected.kubeconfig().map(|path| fact("kubectl", format!("KUBECONFIG={}", path.display()))));
    facts.extend(connected.isolation.as_ref().map(|isolation| fact("Isolation of runs", isolation.to_string())));
    facts.push(fact("Concurrent operations", settings.max_running.to_string()));
    About { version: env!("CARGO_PKG_VERSION").into(), mode: connected.mode.clone(), facts }
}
