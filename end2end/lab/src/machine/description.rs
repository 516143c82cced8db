//! What a machine is, and its state. Both are files in its folder, so that the supervisor inside the lab and the command line
//! outside can share them.

use std::fs::{File, TryLockError};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Doing, Error};
use crate::layout::Layout;
use crate::{files, wait};

/// One machine, or one node of the lab's own Kubernetes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    /// The lower layer of its disk: the root file system that all machines share.
    pub(crate) root: PathBuf,
    /// The `runc` that runs it.
    pub(crate) runc: PathBuf,
    /// Folders of the computer that are mounted on the machine.
    pub(crate) sees: Vec<Share>,
    /// Folders in memory: they are empty at every boot, and need no time to be removed.
    pub(crate) in_memory: Vec<String>,
    /// Routes to networks behind other machines: the network and the machine that forwards to it.
    pub(crate) routes: Vec<(String, Ipv4Addr)>,
}

/// A folder of the computer, and where it is mounted on a machine, read-only.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) from: PathBuf,
    pub(crate) at: String,
}

impl Share {
    pub(crate) fn new(from: &Path, at: &str) -> Self {
        Self { from: from.to_owned(), at: at.to_owned() }
    }
}

/// Whether a machine is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// Its first process is being started.
    Booting,
    /// systemd is running.
    On,
    Off,
    /// Its supervisor was killed. The machine may still be running, but nothing boots it again or writes its state.
    Orphaned,
}

/// A machine's state, written by its supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub power: Power,
    /// The number of boots with its current disk.
    pub boots: u32,
    /// The number of its first process in the lab's process namespace.
    pub pid: Option<i32>,
    /// Why it is off or orphaned, otherwise empty.
    pub reason: String,
}

/// The files in the folder of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn of(layout: &Layout, name: &str) -> Self {
        Self(layout.machine(name))
    }

    pub(crate) fn description(&self) -> Result<Description, Error> {
        read(&self.0.join("machine.json"))
    }

    pub(crate) fn describe(&self, description: &Description) -> Result<(), Error> {
        write(&self.0.join("machine.json"), description)
    }

    /// The state that the supervisor last wrote, or [`Power::Orphaned`] if the supervisor was killed.
    pub(crate) fn state(&self) -> Result<State, Error> {
        let written = || read::<State>(&self.0.join("state.json"));
        loop {
            let state = written()?;
            if state.power == Power::Off || self.has_supervisor()? {
                return Ok(state);
            }
            // Read again: the supervisor may have ended normally since, and another one may have started.
            if written()? == state {
                let reason = "its supervisor was killed".to_owned();
                return Ok(State { power: Power::Orphaned, reason, ..state });
            }
        }
    }

    /// Makes this process the machine's supervisor while it holds the returned lock. Waits for an earlier one that is ending.
    pub(crate) fn become_supervisor(&self) -> Result<File, Error> {
        let lock = self.lock();
        let file = File::create(&lock).doing(|| format!("make {}", lock.display()))?;
        wait::until("the end of an earlier supervisor", wait::PATIENCE, || {
            file.try_lock().map_err(|error| error.to_string())
        })?;
        Ok(file)
    }

    /// Whether its supervisor is alive. The supervisor holds a lock that the kernel releases when it ends.
    fn has_supervisor(&self) -> Result<bool, Error> {
        let lock = self.lock();
        let Ok(file) = File::open(&lock) else { return Ok(false) };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error).doing(|| format!("lock {}", lock.display())),
        }
    }

    fn lock(&self) -> PathBuf {
        self.0.join("supervisor.lock")
    }

    pub(crate) fn write_state(&self, state: &State) -> Result<(), Error> {
        write(&self.0.join("state.json"), state)
    }

    pub(crate) fn remove_state(&self) -> Result<(), Error> {
        files::remove(&self.0.join("state.json"))
    }

    /// The disk, which `reset` removes.
    pub(crate) fn disk(&self) -> PathBuf {
        self.0.join("disk")
    }

    /// runc's bundle, which contains the mounted root file system.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.0.join("bundle")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.bundle().join("root")
    }

    /// Its network is cut while this file exists.
    pub(crate) fn cut(&self) -> PathBuf {
        self.0.join("network-is-cut")
    }

    /// systemd's console output.
    pub(crate) fn console(&self) -> PathBuf {
        self.0.join("console.log")
    }

    /// The supervisor's output.
    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.0.join("supervisor.log")
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Error> {
    serde_json::from_str(&files::read(file)?)
        .map_err(|error| Error::Malformed { file: file.to_owned(), why: error.to_string() })
}

fn write<T: Serialize>(file: &Path, value: &T) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Malformed { file: file.to_owned(), why: error.to_string() })?;
    files::replace(file, 0o644, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_on_without_a_supervisor_is_orphaned() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder(folder.path().to_owned());
        let power = || folder.state().unwrap().power;
        let on = State { power: Power::On, boots: 3, pid: Some(7), reason: String::new() };
        let supervisor = folder.become_supervisor().unwrap();
        folder.write_state(&on).unwrap();
        assert_eq!(folder.state().unwrap(), on);
        drop(supervisor);
        // Another test may be starting a program, which inherits the open file until it calls exec.
        let orphaned = || if power() == Power::Orphaned { Ok(()) } else { Err("the lock is held".to_owned()) };
        wait::until("the release of the lock", wait::PATIENCE, orphaned).unwrap();
        assert_eq!(folder.state().unwrap().boots, 3);
        let next = folder.become_supervisor().unwrap();
        assert_eq!(power(), Power::On);
        folder.write_state(&State { power: Power::Off, ..on }).unwrap();
        drop(next);
        assert_eq!(power(), Power::Off);
    }
}
