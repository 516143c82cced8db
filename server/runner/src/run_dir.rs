//! The folder of one run: what the server, the shim and the command know of each other lies here, so that each may die alone.
//!
//! ```text
//! run.json      what to start                       written by the server before the shim is started
//! lock          held by whoever prepares or runs it
//! process.json  who runs it                         written by the shim before the command is started
//! log           its output, as CRI records          written by the shim
//! exit.json     how it ended                        written by the shim, or by the server where the shim is gone
//! shim.err      what the shim itself had to say
//! root/         the file system of the "container"
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::process::Identity;

/// What the shim starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    /// The pod's uid; also the mark of its processes.
    pub(crate) uid: String,
    pub(crate) command: Vec<String>,
    /// The whole environment.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) directory: PathBuf,
    /// Bytes after which the log is cut.
    pub(crate) log_limit: u64,
}

/// Who runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    pub(crate) shim: Identity,
    /// None from just before to just after the command is started.
    pub(crate) command: Option<Identity>,
    pub(crate) started_at: Timestamp,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exit {
    pub(crate) code: i32,
    pub(crate) cause: Cause,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) finished_at: Timestamp,
}

/// What made it end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cause {
    /// It ended by itself.
    Exited,
    /// This signal killed it.
    Signal(i32),
    /// It could not be started; why.
    NotStarted(String),
    /// Nobody was there any more to see it end.
    Gone,
}

/// Below the root: where a run finds its key, and its inventory and variables.
const GIVEN: [&str; 2] = ["auth", "conf"];

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

    /// Makes the folder and its parents, for the owner only.
    pub(crate) fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)
    }

    /// The right to prepare or to run it, held as long as the file is open; None while somebody else has it.
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

    /// Whatever shim comes finds nothing to start.
    pub(crate) fn forget_start(&self) {
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

    /// Removes the keys and passwords that the run was given. The error is that of the first part that can't be removed.
    pub(crate) fn forget_keys(&self) -> io::Result<()> {
        let removed = GIVEN.map(|part| match fs::remove_dir_all(self.root().join(part)) {
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
        write_durably(&self.0.join(name), &serde_json::to_vec(value)?, 0o600)
    }
}

/// Where all runs lie.
pub(crate) fn all(data_dir: &Path) -> PathBuf {
    data_dir.join("runs")
}

/// Whether a run that has not ended was given `path` in its environment. What can't be read may have been.
pub(crate) fn is_given(data_dir: &Path, path: &str) -> bool {
    let runs = match fs::read_dir(all(data_dir)) {
        Ok(runs) => runs,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    let is_given = |run: &RunDir| match run.start() {
        Ok(start) => start.is_some_and(|start| start.env.iter().any(|(_, value)| value.contains(path))),
        Err(_) => true,
    };
    runs.map(|entry| entry.map(|entry| RunDir::at(entry.path())))
        .any(|run| run.map_or(true, |run| !run.has_exit() && is_given(&run)))
}

/// The whole file or none of it, also after a power cut.
pub(crate) fn write_durably(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    write(path, bytes, mode, File::sync_all)?;
    // The name is the folder's: without this the rename may be lost, and a run that was started would start again.
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// The whole file or none of it, as long as the machine stays up.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    write(path, bytes, mode, |_| Ok(()))
}

fn write(path: &Path, bytes: &[u8], mode: u32, settle: impl Fn(&File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    // Left over from an interrupted attempt, and maybe read-only.
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = OpenOptions::new().create_new(true).write(true).mode(mode).open(&new)?;
    file.write_all(bytes)?;
    settle(&file)?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_removed_is_told_and_keeps_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::at(folder.path());
        assert!(dir.forget_keys().is_ok(), "there was nothing to remove");
        fs::create_dir_all(dir.root().join("conf")).unwrap();
        fs::write(dir.root().join("conf/group_vars.yml"), "password: hunter22").unwrap();
        // No folder: as good a reason as any other why it can't be removed like one.
        fs::write(dir.root().join("auth"), "").unwrap();
        assert!(dir.forget_keys().is_err());
        assert!(!dir.root().join("conf").exists());
    }
}
