//! The folder of one run. Server, shim and command communicate only through it, so each of them may crash without the others.
//!
//! ```text
//! run.json      what to start               written by the server before it starts the shim
//! lock          held while the run is prepared or running
//! process.json  shim and command            written by the shim before it starts the command, and again afterwards
//! log           the output, as CRI records  written by the shim
//! exit.json     how the run ended           written by the shim, or by the server if the shim is gone
//! shim.err      stderr of the shim itself
//! root/         the file system of the "container"
//! ```

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

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

/// The folders below the root that hold the private key, and the inventory and variables with their passwords.
const SECRET_FOLDERS: [&str; 2] = ["auth", "conf"];

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

    /// Removes the run's keys and passwords. Returns the first error, after trying all folders.
    pub(crate) fn remove_keys(&self) -> io::Result<()> {
        let removed = SECRET_FOLDERS.map(|folder| match fs::remove_dir_all(self.root().join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        removed.into_iter().collect()
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        write_durably(&self.0.join(name), &serde_json::to_vec(value)?)
    }
}

/// The folder of all runs.
pub(crate) fn all(data_dir: &Path) -> PathBuf {
    data_dir.join("runs")
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

/// Writes a file for the owner only. Afterwards the whole file is on disk; a crash or a power cut before that leaves the old one.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The rename is in the folder: without this a power cut may undo it, and a run that has started would start again.
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_removed_even_if_one_folder_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::at(folder.path());
        assert!(dir.remove_keys().is_ok(), "without keys it does nothing");
        fs::create_dir_all(dir.root().join("conf")).unwrap();
        fs::write(dir.root().join("conf/group_vars.yml"), "password: hunter22").unwrap();
        // A file instead of a folder: removing it as a folder fails.
        fs::write(dir.root().join("auth"), "").unwrap();
        assert!(dir.remove_keys().is_err());
        assert!(!dir.root().join("conf").exists());
    }
}
