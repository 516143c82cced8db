//! What a machine is, and in which state. Both are files in its folder: the supervisor inside the lab and whoever asks
//! outside share no memory.

use std::{
    fs::{File, TryLockError},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    error::{Doing, Error},
    files,
    layout::Layout,
    wait,
};

/// One machine, or one node of the lab's own Kubernetes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    /// The root file system below the machine's own changes.
    pub(crate) root: PathBuf,
    /// The `runc` that runs it.
    pub(crate) runc: PathBuf,
    /// Folders outside that it sees.
    pub(crate) sees: Vec<Share>,
    /// Folders that lie in memory: empty at every boot, and gone at once.
    pub(crate) in_memory: Vec<String>,
    /// Networks behind other machines: where they are, and behind whom.
    pub(crate) routes: Vec<(String, Ipv4Addr)>,
}

/// A folder outside, and where a machine sees it. It can't write there.
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

/// What a machine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// Its first process is being made.
    Booting,
    /// systemd runs.
    On,
    Off,
    /// Its supervisor was killed. The machine may run, but nobody boots it again or tells its state.
    Orphaned,
}

/// A machine's state, as its supervisor writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub power: Power,
    /// How often it has booted since its disk is new.
    pub boots: u32,
    /// Its first process, as the lab's processes see it.
    pub pid: Option<i32>,
    /// Why it is off or orphaned, if it is.
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

    /// What the supervisor last told; that of a killed one counts no more.
    pub(crate) fn state(&self) -> Result<State, Error> {
        let told = || read::<State>(&self.0.join("state.json"));
        loop {
            let state = told()?;
            if state.power == Power::Off || self.is_kept()? {
                return Ok(state);
            }
            // It may have ended in order between the two looks, and another one may have started.
            if told()? == state {
                let reason = "its supervisor was killed".to_owned();
                return Ok(State { power: Power::Orphaned, reason, ..state });
            }
        }
    }

    /// Makes this process the machine's supervisor, as long as it holds what this gives. An earlier one may just be ending.
    pub(crate) fn keep(&self) -> Result<File, Error> {
        let lock = self.lock();
        let file = File::create(&lock).doing(|| format!("make {}", lock.display()))?;
        wait::until("the end of an earlier supervisor", Duration::from_secs(10), || {
            file.try_lock().map_err(|error| error.to_string())
        })?;
        Ok(file)
    }

    /// Whether its supervisor lives: it holds a lock that ends with it.
    fn is_kept(&self) -> Result<bool, Error> {
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

    pub(crate) fn tell(&self, state: &State) -> Result<(), Error> {
        write(&self.0.join("state.json"), state)
    }

    pub(crate) fn forget_state(&self) -> Result<(), Error> {
        files::remove(&self.0.join("state.json"))
    }

    /// What `reset` throws away.
    pub(crate) fn disk(&self) -> PathBuf {
        self.0.join("disk")
    }

    /// The mounted root of the running machine, and runc's bundle.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.0.join("bundle")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.bundle().join("root")
    }

    /// Its network is cut while this is there.
    pub(crate) fn cut(&self) -> PathBuf {
        self.0.join("network-is-cut")
    }

    /// What systemd said on its console.
    pub(crate) fn console(&self) -> PathBuf {
        self.0.join("console.log")
    }

    /// What the supervisor said.
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
    fn a_machine_is_on_as_long_as_its_supervisor_lives_and_off_when_it_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder(folder.path().to_owned());
        let power = || folder.state().unwrap().power;
        let on = State { power: Power::On, boots: 3, pid: Some(7), reason: String::new() };
        let supervisor = folder.keep().unwrap();
        folder.tell(&on).unwrap();
        assert_eq!(folder.state().unwrap(), on);
        drop(supervisor);
        // A program that another test is just starting may hold the file for a moment.
        let orphaned = || if power() == Power::Orphaned { Ok(()) } else { Err("it is kept".to_owned()) };
        wait::until("the lock to be given back", Duration::from_secs(10), orphaned).unwrap();
        assert_eq!(folder.state().unwrap().boots, 3);
        let next = folder.keep().unwrap();
        assert_eq!(power(), Power::On);
        folder.tell(&State { power: Power::Off, ..on }).unwrap();
        drop(next);
        assert_eq!(power(), Power::Off);
    }
}
