//! `--demo`: a cluster that runs on this very machine, for people without machines.

use std::{sync::Arc, time::Duration};

use api::{
    Backend, ClusterName, Problem, User,
    cluster::{Health, MachineRow, NewCluster},
};
use tokio_util::sync::CancellationToken;

use crate::router::Web;

const NAME: &str = "demo";

/// Real ansible on this machine: no SSH, no root, and the Python that runs ansible itself.
const VARIABLES: &str = "\
# This machine, reached without SSH and without privileges.
ansible_connection: local
ansible_become: false
ansible_python_interpreter: \"{{ ansible_playbook_python }}\"
";

/// Registers the cluster as soon as everything is there.
pub async fn register_when_ready(web: Arc<Web>, stop: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    let ready = async {
        while !web.readiness.missing().is_empty() {
            tick.tick().await;
        }
        register(&web.backend).await
    };
    if let Some(Err(problem)) = stop.run_until_cancelled(ready).await {
        tracing::error!(%problem, "the demo cluster was not registered");
    }
}

/// Registers the cluster unless it is there. What a person changed of it stays.
pub async fn register(backend: &Backend) -> Result<(), Problem> {
    let user = User { name: NAME.into(), token: None };
    let name: ClusterName = NAME.parse()?;
    match backend.clusters.get(&user, &name).await {
        Err(Problem::NotFound { .. }) => {}
        // An earlier start was interrupted in the middle of it.
        Ok(found) if found.row.health == Health::Broken && found.operations == 0 => {}
        found => return found.map(drop),
    }
    let machine = MachineRow {
        name: "this-machine".into(),
        address: "127.0.0.1".into(),
        role: "both".into(),
        ..MachineRow::default()
    };
    let cluster = NewCluster {
        name: NAME.into(),
        machines: vec![machine],
        ssh: "none".into(),
        variables: VARIABLES.into(),
        ..NewCluster::default()
    };
    backend
        .clusters
        .register(&user, &cluster)
        .await
        .map(|_| tracing::info!("registered the cluster `demo` on this machine"))
}
