//! The runs of a data directory that have not ended, for commands that work while no server runs.

use std::path::Path;

use crate::run_dir::{self, RunDir};

/// The uids of the pods whose runs have not ended: a shim holds the folder, or a process of the run is alive.
#[must_use]
pub fn running(data_dir: &Path) -> Vec<String> {
    run_dir::uids(data_dir).filter(|uid| is_running(&RunDir::of(data_dir, uid))).collect()
}

fn is_running(dir: &RunDir) -> bool {
    let processes = dir.running().ok().flatten();
    let alive =
        processes.is_some_and(|run| run.shim.is_alive() || run.command.is_some_and(|command| command.is_alive()));
    alive || matches!(dir.lock(), Ok(None))
}
