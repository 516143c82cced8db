//! The folder of one run. Server, shim and command communicate only through it, so each of them may crash without the others.
//!
//! ```text
//! run.json      what to start               written by the server before it starts the shim
//! lock          held while the run is prepared or running
//! process.json  shim and command            written by the shim before it starts the command, and again afterwards
//! log           the output, as CRI records  written by the shim
//! exit.json     how the run ended           written by the shim, or by the server if the shim is gone
//! shim.err      stderr of the shim itself
//! root/         the file system of the "container"; the command of an isolated run can write to nothing else of this folder. It
//!               is removed when the run has ended
//! ```

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::isolation::Confinement;
use crate::processes::Identity;

/// What the shim starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    /// The pod's uid. It also marks the run's processes.
    pub(crate) uid: String,
    pub(crate) command: Vec<String>,
    /// The whole environment.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) directory: PathBuf,
    /// Bytes of the log. Further output is dropped.
    pub(crate) log_limit: u64,
    /// `None`: the run is not isolated.
    pub(crate) confinement: Option<Confinement>,
}

/// The processes of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    pub(crate) shim: Identity,
    /// `None` while the command is being started.
    pub(crate) command: Option<Identity>,
    pub(crate) started_at: Timestamp,
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exit {
    pub(crate) code: i32,
    pub(crate) cause: Cause,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) finished_at: Timestamp,
}

impl Exit {
    /// A run that has ended now.
    pub(crate) fn now(code: i32, cause: Cause, started_at: Option<Timestamp>) -> Self {
        Self { code, cause, started_at, finished_at: Timestamp::now() }
    }
}

/// Why the run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cause {
    /// The command exited.
    Exited,
    /// This signal ended the command.
    Signal(i32),
    /// The command was not started, for this reason.
    NotStarted(String),
    /// The shim was killed before it could record the exit code.
    Gone,
}

/// Paths and files of one run.
#[derive(Debug, Clone)]
pub(crate) struct RunDir(PathBuf);

impl RunDir {
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The folder of a pod's run in the data directory.
    pub(crate) fn of(data_dir: &Path, uid: &str) -> Self {
        Self(all(data_dir).join(uid))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    pub(crate) fn shim_errors(&self) -> PathBuf {
        self.0.join("shim.err")
    }

    /// Creates the folder and its parents, accessible only to the owner.
    pub(crate) fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)
    }

    /// Locks the run for preparing or running it, until the file is closed. `None` while another process holds the lock.
    pub(crate) fn lock(&self) -> io::Result<Option<File>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(self.0.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(crate) fn start(&self) -> io::Result<Option<Start>> {
        self.read("run.json")
    }

    pub(crate) fn save_start(&self, start: &Start) -> io::Result<()> {
        self.save("run.json", start)
    }

    /// From now on no shim can start the command.
    pub(crate) fn remove_start(&self) {
        drop(fs::remove_file(self.0.join("run.json")));
    }

    pub(crate) fn running(&self) -> io::Result<Option<Running>> {
        self.read("process.json")
    }

    pub(crate) fn save_running(&self, running: &Running) -> io::Result<()> {
        self.save("process.json", running)
    }

    pub(crate) fn exit(&self) -> io::Result<Option<Exit>> {
        self.read("exit.json")
    }

    pub(crate) fn save_exit(&self, exit: &Exit) -> io::Result<()> {
        self.save("exit.json", exit)
    }

    pub(crate) fn has_exit(&self) -> bool {
        self.0.join("exit.json").exists()
    }

    /// Removes the files that the run read and wrote: keys, passwords, results. The termination message stays until it is in the
    /// pod's status. Returns the first error, after trying all files.
    pub(crate) fn remove_files(&self, keep_message: bool) -> io::Result<()> {
        // A killed shim may have left a half-written file.
        disk::remove_leftovers(&self.0);
        let entries = fs::read_dir(self.root()).into_iter().flatten().flatten();
        let entries = entries.filter(|entry| !(keep_message && entry.file_name() == "dev"));
        let removed: Vec<_> = entries
            .map(|entry| match fs::remove_dir_all(entry.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(entry.path()),
                removed => removed,
            })
            .collect();
        removed.into_iter().collect::<io::Result<()>>()?;
        if keep_message || !self.root().exists() { Ok(()) } else { fs::remove_dir(self.root()) }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        disk::save(&self.0.join(name), &serde_json::to_vec(value)?)
    }
}

/// The folder of all runs.
pub(crate) fn all(data_dir: &Path) -> PathBuf {
    data_dir.join("runs")
}

/// The uids of the pods whose runs have a folder.
pub(crate) fn uids(data_dir: &Path) -> impl Iterator<Item = String> {
    let folders = fs::read_dir(all(data_dir)).into_iter().flatten().flatten();
    let named = folders.map(|folder| folder.file_name()).filter(|name| is_run_name(name));
    named.filter_map(|name| name.into_string().ok())
}

/// Whether `name` is safe as the name of a run's folder and as the mark of its processes. Kubernetes' uids are.
pub(crate) fn is_run_name(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

/// Whether a run that has not ended has `path` in its environment. True if that can't be read.
pub(crate) fn is_in_use(data_dir: &Path, path: &str) -> bool {
    let runs = match fs::read_dir(all(data_dir)) {
        Ok(runs) => runs,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    let names_path = |start: &Start| start.env.iter().any(|(_, value)| value.contains(path));
    let uses_path = |run: &RunDir| run.start().map_or(true, |start| start.as_ref().is_some_and(names_path));
    runs.map(|entry| entry.map(|entry| RunDir::at(entry.path())))
        .any(|run| run.map_or(true, |run| !run.has_exit() && uses_path(&run)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_removed_and_the_final_message_last() {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::at(folder.path());
        dir.remove_files(false).expect("without files it does nothing");
        for path in ["conf/group_vars.yml", "work-kubeonkube/run/result.json", "dev/termination-log", "a-file"] {
            let path = dir.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "password: hunter22").unwrap();
        }
        dir.remove_files(true).unwrap();
        let left: Vec<_> = fs::read_dir(dir.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["dev"]);
        dir.remove_files(false).unwrap();
        assert!(!dir.root().exists());
    }
}
