//! Removes what a run leaves behind: its processes, its folder, and its files.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::processes::kill_marked;
use crate::run_dir::RunDir;

/// How long processes of a deleted pod may resist being killed.
const KILLED_WITHIN: Duration = Duration::from_secs(10);

/// Removes the files of runs that have ended, keys and passwords among them. The next server tries again what could not be removed.
pub(super) async fn remove_files(ended: Vec<RunDir>, keep_message: bool) {
    let work = move || {
        for dir in ended {
            if let Err(error) = dir.remove_files(keep_message) {
                tracing::error!(folder = %dir.root().display(), %error, "the files of a run that has ended, with its keys and passwords, can't be removed: remove them by hand, or restart the server");
            }
        }
    };
    // A shutdown drops this future, but the thread finishes. If the process ends first, the next server repeats the work.
    drop(tokio::task::spawn_blocking(work).await);
}

/// Kills all processes of a pod and removes its run's folder.
pub(super) async fn remove_run(data_dir: &Path, uid: &str) {
    let (dir, uid) = (RunDir::of(data_dir, uid), uid.to_owned());
    // As above.
    drop(tokio::task::spawn_blocking(move || remove(&dir, &uid)).await);
}

fn remove(dir: &RunDir, uid: &str) {
    if !dir.path().exists() {
        return;
    }
    let started = Instant::now();
    // The shim first: it would write into the folder while we remove it. While we hold the lock, no shim starts the command. A child
    // that the shim has just forked inherits the lock until it calls exec; from then on it carries the mark.
    let lock = loop {
        if let Ok(Some(running)) = dir.running() {
            running.shim.signal(Signal::KILL);
        }
        match dir.lock() {
            Ok(None) if started.elapsed() < KILLED_WITHIN => {
                // Something still holds the lock. Meanwhile the command must not continue.
                kill_marked(uid, Duration::ZERO);
                std::thread::sleep(Duration::from_millis(10));
            }
            lock => break lock,
        }
    };
    kill_marked(uid, KILLED_WITHIN);
    // Without the start record no shim starts the command after we unlock. We have to unlock before we remove the folder: some file
    // systems keep a folder while a file in it is open.
    dir.remove_start();
    drop(lock);
    if let Err(error) = std::fs::remove_dir_all(dir.path())
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %dir.path().display(), %error, "the folder of a deleted pod's run can't be removed");
    }
}
