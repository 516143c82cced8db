//! `--demo`: a cluster on this machine, to try the console without other machines.

use std::time::Duration;

use api::cluster::{Health, KeySource, MachineRow, NewCluster};
use api::input::Input;
use api::machine::MachineRole;
use api::{Backend, ClusterName, Problem, User};
use tokio_util::sync::CancellationToken;

use crate::web::readiness::Readiness;

const NAME: &str = "demo";

/// Variables that make ansible run on this machine without SSH and root, with the Python that runs ansible itself.
const VARIABLES: &str = "\
# This machine, reached without SSH and without privileges.
ansible_connection: local
ansible_become: false
ansible_python_interpreter: \"{{ ansible_playbook_python }}\"
";

/// Registers the cluster as soon as the server is ready.
pub(super) async fn register_when_ready(backend: Backend, readiness: Readiness, stop: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    let ready = async {
        while !readiness.missing().is_empty() {
            tick.tick().await;
        }
        register(&backend).await
    };
    if let Some(Err(problem)) = stop.run_until_cancelled(ready).await {
        tracing::error!(%problem, "the demo cluster was not registered");
    }
}

/// Registers the cluster unless it exists. Changes that a person made to it are kept.
async fn register(backend: &Backend) -> Result<(), Problem> {
    let user = User { name: NAME.into(), token: None };
    let name: ClusterName = NAME.parse()?;
    match backend.clusters.get(&user, &name).await {
        Err(Problem::NotFound { .. }) => {}
        // An earlier registration was interrupted: complete it.
        Ok(found) if found.row.health == Health::Broken && found.operations == 0 => {}
        found => return found.map(drop),
    }
    let machine = MachineRow {
        name: "this-machine".into(),
        address: "127.0.0.1".into(),
        role: Input::Valid(Some(MachineRole::Both)),
        ..MachineRow::default()
    };
    let cluster = NewCluster {
        name: Input::Valid(name),
        machines: vec![machine],
        ssh: Input::Valid(KeySource::None),
        variables: VARIABLES.into(),
        ..NewCluster::default()
    };
    backend
        .clusters
        .register(&user, &cluster)
        .await
        .map(|_| tracing::info!("registered the cluster `demo` on this machine"))
}
