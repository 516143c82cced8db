//! The local runner of Jobs: what the Job controller and the kubelet are in a cluster, with processes on this machine for containers.
//!
//! It sees the API as any client does. `job_plan` decides what becomes of a Job and `jobs` does it; `kubelet` gives every pod a `life`,
//! whose `start` makes its root (`container`, `volumes`) and starts a [`shim`] beside its process, which `supervise` watches over. All they know of a run is in its folder
//! (`run_dir`) and in the API, so that each part may be killed at any moment and go on later.

mod ansible;
mod container;
mod job_plan;
mod jobs;
mod kubelet;
mod life;
mod logs;
mod marked;
mod pod_status;
mod process;
mod records;
mod reports;
mod run_dir;
pub mod shim;
mod start;
mod supervise;
mod volumes;

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use ansible::{Ansible, AnsibleError, Installed};
pub use logs::LocalLogs;

/// The name of the one node there is.
pub const NODE: &str = "standalone";

/// What the runner works with.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// Runs lie below `runs/` in it; the same as that of the API.
    pub data_dir: PathBuf,
    /// The program that understands `run-job --dir DIR` and calls [`shim::run_job`].
    pub shim: PathBuf,
    /// Where `ansible-playbook` and its Python come from.
    pub ansible: Arc<Ansible>,
    /// Pods that run at once; more wait unscheduled.
    pub max_parallel: usize,
}

/// Why the runner can't work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    #[error("the folder of runs {0} can't be used: {1}. Make it writable for this user, or choose another --data-dir.")]
    Folder(PathBuf, std::io::Error),
}

/// Runs Jobs until `shutdown`; then it returns at once and leaves the runs going: the next start finds them. Only one may work on a
/// data directory at a time (take [`standalone::lock`] first).
pub async fn run(client: kube::Client, options: RunnerOptions, shutdown: CancellationToken) -> Result<(), RunnerError> {
    let options = RunnerOptions { data_dir: absolute(options.data_dir)?, shim: absolute(options.shim)?, ..options };
    let runs = run_dir::RunDir::at(run_dir::all(&options.data_dir));
    runs.make().map_err(|error| RunnerError::Folder(runs.path().to_owned(), error))?;
    let (store, writer) = kube::runtime::reflector::store();
    let (touched, touches) = futures::channel::mpsc::unbounded();
    let kubelet = kubelet::run(client.clone(), options, writer, touched, shutdown.clone());
    let jobs = jobs::run(client, store, touches, shutdown);
    tokio::join!(kubelet, jobs);
    Ok(())
}

/// The shim works in another directory, so paths must not depend on ours.
fn absolute(path: PathBuf) -> Result<PathBuf, RunnerError> {
    std::path::absolute(&path).map_err(|error| RunnerError::Folder(path, error))
}
