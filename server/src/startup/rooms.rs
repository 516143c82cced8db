//! Starts the controller, the console and the log collector, in this order, and connects them to each other. Each needs the ones
//! before it: the console and the log collector read the controller's stores, and in a cluster the log collector asks the
//! console which users may read a log.

use std::sync::Arc;

use api::backend::About;
use api::{Backend, OperationName, Problem, User};
use async_trait::async_trait;
use console::{Change, Console, Playbooks};
use controller::{ChangeKind, Running};
use kube::ResourceExt;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::kubernetes::Connected;
use super::tasks::Tasks;
use crate::config::{Kubernetes, Settings};
use crate::web::readiness::Readiness;

/// The default image of operations: ours, of the same version as this program.
const IMAGE: &str = concat!("ghcr.io/clay-wangzhi/kubeonkube-runner:v", env!("CARGO_PKG_VERSION"));

/// Returns the backend for the pages.
pub(super) fn start(
    settings: &Settings,
    connected: &Connected,
    readiness: &mut Readiness,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Backend {
    let (client, namespace) = (connected.client.clone(), connected.client.default_namespace().to_owned());
    let standalone = settings.kubernetes == Kubernetes::Standalone;
    let config = controller::Config {
        max_running: settings.max_running,
        controller_namespace: namespace.clone(),
        ..controller::Config::default()
    };
    let (running, controlling) = controller::start(client.clone(), config, stop.clone());
    tasks.adopt("controller", controlling);

    let options = console::Options {
        client: client.clone(),
        user_clients: connected.config.as_ref().map(console::user_clients),
        clusters: running.clusters.clone(),
        operations: running.operations.clone(),
        namespace,
        image: IMAGE.into(),
        playbooks: if standalone { Playbooks::Local } else { Playbooks::Image },
    };
    let (console, counting) = console::start(options, stop.clone());
    tasks.spawn("console", counting);
    tasks.spawn("changes", forward_changes(running.clone(), console.clone(), stop.clone()));

    let readers: Arc<dyn runlog::Readers> =
        if standalone { Arc::new(runlog::Everybody) } else { Arc::new(AsTheConsole(console.clone())) };
    let unread = running.unread_operations.clone();
    let is_unread: runlog::IsUnread = Arc::new(move |name| unread.contains(name));
    let options = runlog::Options { dir: settings.data_dir.join("logs"), readers, is_unread };
    let (runs, collecting) = runlog::start(client, options, running.operations.clone(), stop.clone());
    // The console shows the last result of each machine, which it reads from the logs. The logs need the console (`readers`), so
    // they are started after it, and the console gets them only now.
    console.ask_runs(runs.clone());
    let gate = readiness.awaits("clusters and operations");
    tasks.spawn("log collector", async move {
        // The collector reads the controller's stores, so it starts when they are filled.
        if running.ready().await {
            gate.open();
            collecting.await;
        }
    });
    let console = Arc::new(console);
    Backend {
        clusters: console.clone(),
        configurations: console.clone(),
        operations: console.clone(),
        runs,
        changes: console,
        about: Arc::new(about(settings, connected)),
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
    facts.push(fact("Concurrent operations", settings.max_running.to_string()));
    About { version: env!("CARGO_PKG_VERSION").into(), mode: connected.mode.clone(), facts }
}
