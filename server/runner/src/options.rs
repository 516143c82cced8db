//! The options of the runner.

use std::path::PathBuf;
use std::sync::Arc;

use crate::ansible::Ansible;
use crate::isolation::Isolation;

/// What the runner is started with.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// The data directory of the embedded API. Runs are kept below `runs/` in it.
    pub data_dir: PathBuf,
    /// The program to start beside each run, as `<shim> run-job --dir DIR [--descriptors N]`. It must call [`crate::run_job`].
    pub shim: PathBuf,
    /// The source of `ansible-playbook` and its Python.
    pub ansible: Arc<Ansible>,
    /// Pods that may run at once. The others stay unscheduled.
    pub max_parallel: usize,
    /// Whether runs are kept out of the data directory.
    pub isolation: Isolation,
    /// The limit of open descriptors for runs, which the shim sets. `None`: that of this process.
    pub descriptors: Option<u64>,
}
