//! Runs the Jobs of the embedded API as processes on this machine: the Job controller and the kubelet of standalone mode.
//!
//! # How a Job becomes processes
//!
//! 1. The Job controller (`jobs`) decides from a Job and its pods what to do next, and creates a pod.
//! 2. The kubelet (`pods`) binds the pod to the only node when a slot is free, makes sure that ansible is installed (`ansible`), and
//!    writes the pod's volumes as files below the run's root folder, which stands for the container's file system.
//! 3. The kubelet writes the command and its environment into the run's folder (`run_dir`) and starts the shim (`shim`).
//! 4. The shim starts the command, writes its output to the run's log (`logs`), and records the exit code in the run's folder.
//! 5. The kubelet notices that the shim has ended and writes the result into the pod's status. The Job controller then ends the Job.
//!
//! # What survives a crash of the server
//!
//! The command and its shim keep running: the shim leads its own session and owns the output. Everything else that is known of a run
//! is in its folder and in the API, so the next server continues where the last one stopped:
//!
//! - no `process.json`: no shim has started the command. The kubelet prepares the run again.
//! - `process.json`, and the shim is alive: the kubelet waits for it.
//! - `exit.json`: the kubelet reports the result.
//! - `process.json`, but neither a shim nor `exit.json`: the shim was killed or the machine restarted. The run has failed.
//!
//! A run never starts twice: the shim writes `process.json` before it starts the command, and a shim that finds one exits.

mod ansible; // ansible-core in a virtual environment
mod events; // Events about Jobs and pods
mod isolation; // keeps runs out of the data directory
mod jobs; // the Job controller
mod logs; // the format of the log, and the log route of the API
mod options; // what the runner is started with
mod pod; // what can be read from a pod
mod pods; // the kubelet
mod processes; // which processes belong to a run
mod run_dir; // the folder of one run
mod running; // which runs have not ended, without a server
mod shim; // the process beside each run

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::run_dir::RunDir;

pub use crate::ansible::Ansible;
pub use crate::isolation::Isolation;
pub use crate::logs::LocalLogs;
pub use crate::options::RunnerOptions;
pub use crate::running::running;
pub use crate::shim::run_job;

/// Why the runner can't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    #[error("the folder of runs {0} can't be used: {1}. Make it writable for this user, or choose another --data-dir.")]
    Folder(PathBuf, std::io::Error),
}

/// Runs Jobs until `shutdown`. Then it returns at once. The runs continue, and the next start finds them. Only one runner may
/// work on a data directory at a time: take [`standalone::lock`] first.
pub async fn run(client: kube::Client, options: RunnerOptions, shutdown: CancellationToken) -> Result<(), RunnerError> {
    let options = RunnerOptions { data_dir: absolute(options.data_dir)?, shim: absolute(options.shim)?, ..options };
    let runs = RunDir::at(run_dir::all(&options.data_dir));
    runs.make().map_err(|error| RunnerError::Folder(runs.path().to_owned(), error))?;
    let (store, writer) = kube::runtime::reflector::store();
    let (changed, changes) = futures::channel::mpsc::unbounded();
    let kubelet = pods::run(client.clone(), options, writer, changed, shutdown.clone());
    let jobs = jobs::run(client, store, changes, shutdown);
    tokio::join!(kubelet, jobs);
    Ok(())
}

/// The shim works in another directory, so its paths must not be relative to ours.
fn absolute(path: PathBuf) -> Result<PathBuf, RunnerError> {
    std::path::absolute(&path).map_err(|error| RunnerError::Folder(path, error))
}
