//! The rooms, started in order and introduced to each other: controller, log collector, console.

use std::{sync::Arc, time::Duration};

use api::{Backend, OperationName, Problem, User, backend::About};
use async_trait::async_trait;
use console::{Change, Console, Playbooks};
use controller::{ChangeKind, Running};
use kube::ResourceExt;
use tokio::{sync::broadcast::error::RecvError, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Kubernetes, Settings},
    health::Readiness,
    kubernetes::Connected,
    shutdown::Tasks,
};

/// The image of an operation where a person names none: ours, of this version.
const IMAGE: &str = concat!("ghcr.io/clay-wangzhi/kubeonkube-runner:v", env!("CARGO_PKG_VERSION"));

/// Starts them; what they offer to pages.
pub(crate) fn start(
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
    tasks.spawn("news", pass_on(running.clone(), console.clone(), stop.clone()));

    let readers: Arc<dyn runlog::Readers> =
        if standalone { Arc::new(runlog::Everybody) } else { Arc::new(AsTheConsole(console.clone())) };
    let unread = running.unread_operations.clone();
    let is_unread: runlog::IsUnread = Arc::new(move |name| unread.contains(name));
    let options = runlog::Options { dir: settings.data_dir.join("logs"), readers, is_unread };
    let (runs, collecting) = runlog::start(client, options, running.operations.clone(), stop.clone());
    console.ask_runs(runs.clone());
    let gate = readiness.awaits("clusters and operations");
    tasks.spawn("log collector", async move {
        if filled(&running).await {
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

/// Waits until the stores hold what the API holds. False when the controller ended before.
///
/// kube's `wait_until_ready` wakes only whoever asked last: its channel holds one waker. So the question is repeated, and the
/// log collector, which asks too, begins afterwards.
async fn filled(running: &Running) -> bool {
    loop {
        if let Ok(filled) = timeout(Duration::from_millis(50), running.ready()).await {
            return filled;
        }
    }
}

/// Tells the console what changed in the controller's stores.
async fn pass_on(running: Running, console: Console, stop: CancellationToken) {
    let mut changes = running.changes.subscribe();
    while let Some(change) = stop.run_until_cancelled(changes.recv()).await {
        match change {
            Ok(change) => pass(&change, &running, &console),
            // A burst was missed: whatever it was, it is among everything.
            Err(RecvError::Lagged(_)) => everything(&running, &console),
            Err(RecvError::Closed) => return,
        }
    }
}

/// What a change means for pages.
fn pass(change: &controller::Change, running: &Running, console: &Console) {
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
        ChangeKind::Everything => everything(running, console),
    }
}

/// Anything may have changed: every page looks again.
fn everything(running: &Running, console: &Console) {
    for cluster in running.clusters.state() {
        console.changed(Change::Cluster(cluster.name_any()));
    }
    for operation in running.operations.state() {
        console.changed(Change::Operation { name: operation.name_any(), cluster: operation.spec.cluster.clone() });
    }
}

/// In a cluster a run is read by whoever may read its pod's log.
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
    facts.push(fact("Operations at the same time", settings.max_running.to_string()));
    About { version: env!("CARGO_PKG_VERSION").into(), mode: connected.mode.clone(), facts }
}
