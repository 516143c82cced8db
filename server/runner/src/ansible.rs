//! The ansible-core that runs use: a Python virtual environment in the data directory, installed when the first run needs it.
//!
//! Each installation has its own folder, and a run keeps the installation that it started with. A restarted server may need another
//! version (an update of kubeonkube, or of the system's Python) while runs of the previous server still use the old one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::{Mutex, watch};

use crate::run_dir;

/// The oldest Python that each ansible-core runs on. The first one that fits is installed. The runner image has the first one too.
const VERSIONS: [((u32, u32), &str); 3] = [((3, 11), "2.18.19"), ((3, 10), "2.17.14"), ((3, 9), "2.15.13")];
/// Start of the names of installations below `<data>/ansible`.
const PREFIX: &str = "venv-";

/// Why ansible can't be used. Users read the text at the waiting operation.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum AnsibleError {
    #[error(
        "{0} contains no ansible-playbook. Correct KUBEONKUBE_ANSIBLE, or unset it: then ansible-core is installed in the data directory."
    )]
    NotThere(PathBuf),
    #[error("Python 3 was not found ({0}). Runs on this machine need it. On Debian: apt install python3-venv.")]
    NoPython(String),
    #[error(
        "this machine has Python {0}, but ansible-core needs 3.9 or newer. Set KUBEONKUBE_ANSIBLE to the bin folder of an ansible installation."
    )]
    OldPython(String),
    #[error("a Python virtual environment can't be created: {0}. On Debian: apt install python3-venv.")]
    NoVenv(String),
    #[error(
        "ansible-core can't be installed: {0}. Give this machine access to a Python package index, or set KUBEONKUBE_ANSIBLE to the bin folder of an ansible installation."
    )]
    NotInstalled(String),
    #[error("{0} can't be used: {1}")]
    Folder(PathBuf, String),
}

/// A usable installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The folder that contains `ansible-playbook` and its `python3`.
    pub(crate) bin: PathBuf,
    /// The version of ansible-core, such as `2.18.19`. Empty for an existing installation.
    pub(crate) version: String,
}

/// The content of `<data>/ansible/current.json`: the installation for new runs.
#[derive(Serialize, Deserialize)]
struct Current {
    folder: String,
    version: String,
}

/// Finds or installs ansible. Pods that need it at the same time share one attempt. A failed attempt is repeated when the next pod needs
/// it.
#[derive(Debug)]
pub struct Ansible {
    data_dir: PathBuf,
    /// `<data>/ansible`.
    folder: PathBuf,
    existing: Option<PathBuf>,
    python: OsString,
    /// The result of the last attempt. Locked during an attempt.
    attempt: Mutex<Option<Result<Installed, AnsibleError>>>,
    failures: AtomicU64,
    progress: watch::Sender<String>,
}

impl Ansible {
    /// Installs below `data_dir`, with the program `python`. With `existing`, the bin folder of an installation, it uses that and
    /// installs nothing.
    pub fn new(data_dir: &Path, existing: Option<PathBuf>, python: impl Into<OsString>) -> Self {
        let (attempt, failures, progress) = (Mutex::new(None), AtomicU64::new(0), watch::Sender::new(String::new()));
        let (data_dir, folder) = (data_dir.to_owned(), data_dir.join("ansible"));
        Self { data_dir, folder, existing, python: python.into(), attempt, failures, progress }
    }

    /// The progress of an installation in sentences. Empty while nothing is being installed.
    pub(crate) fn progress(&self) -> watch::Receiver<String> {
        self.progress.subscribe()
    }

    /// The installation. Installs it first if there is none, which takes about a minute.
    pub(crate) async fn installed(&self) -> Result<Installed, AnsibleError> {
        let failures = self.failures.load(Ordering::Acquire);
        let mut attempt = self.attempt.lock().await;
        match &*attempt {
            Some(Ok(installed)) => return Ok(installed.clone()),
            // The attempt failed while we waited for it. Repeating it here would make all waiting pods fail one after the other.
            Some(Err(error)) if self.failures.load(Ordering::Acquire) > failures => return Err(error.clone()),
            _ => {}
        }
        let outcome = self.find_or_install().await;
        if outcome.is_err() {
            self.failures.fetch_add(1, Ordering::Release);
        }
        *attempt = Some(outcome.clone());
        self.progress.send_replace(String::new());
        outcome
    }

    async fn find_or_install(&self) -> Result<Installed, AnsibleError> {
        if let Some(bin) = &self.existing {
            let bin = std::path::absolute(bin).map_err(|_| AnsibleError::NotThere(bin.clone()))?;
            return match bin.join("ansible-playbook").is_file() {
                true => Ok(Installed { bin, version: String::new() }),
                false => Err(AnsibleError::NotThere(bin)),
            };
        }
        let installed = match (self.found().await, self.wanted().await) {
            // Without a usable system Python, an old installation that works is good enough.
            (Some(found), wanted) if wanted.as_ref().map_or(true, |wanted| *wanted == found.version) => found,
            (found, wanted) => match (self.install(wanted?).await, found) {
                (Ok(installed), _) => installed,
                // For example: the package index can't be reached.
                (Err(error), Some(found)) => {
                    tracing::warn!(%error, "ansible-core {} is still used, because a newer one can't be installed", found.version);
                    found
                }
                (Err(error), None) => return Err(error),
            },
        };
        self.remove_others(&installed).await;
        Ok(installed)
    }

    /// The current installation, if it still works: a virtual environment breaks when the system's Python is replaced.
    async fn found(&self) -> Option<Installed> {
        let current: Current = serde_json::from_slice(&std::fs::read(self.folder.join("current.json")).ok()?).ok()?;
        let bin = std::path::absolute(self.folder.join(current.folder).join("bin")).ok()?;
        let check = ["-I", "-c", "import ansible.cli.playbook"];
        self.run(bin.join("python3").as_os_str(), &check).await.ok()?;
        Some(Installed { bin, version: current.version })
    }

    /// The version to install for this machine's Python.
    async fn wanted(&self) -> Result<&'static str, AnsibleError> {
        let python = self.run(&self.python, &["-I", "-c", "import sys; print('%d %d' % sys.version_info[:2])"]).await;
        let python = python.map_err(AnsibleError::NoPython)?;
        let mut parts = python.split_whitespace().filter_map(|part| part.parse().ok());
        let found: (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let version = VERSIONS.iter().find(|(needed, _)| found >= *needed).map(|(_, version)| *version);
        version.ok_or_else(|| AnsibleError::OldPython(format!("{}.{}", found.0, found.1)))
    }

    async fn install(&self, version: &'static str) -> Result<Installed, AnsibleError> {
        // Each attempt has its own folder, as an interrupted attempt may still be writing to another one.
        let name = format!("{PREFIX}{version}-{}", uuid::Uuid::new_v4());
        let folder = std::path::absolute(self.folder.join(&name)).map_err(|error| self.folder_error(&error))?;
        std::fs::create_dir_all(&folder).map_err(|error| self.folder_error(&error))?;
        self.report(&format!("Installing ansible-core {version} for first use: creating a Python environment."));
        let path = folder.to_string_lossy();
        if let Err(why) = self.run(&self.python, &["-I", "-m", "venv", &path]).await {
            drop(std::fs::remove_dir_all(&folder));
            return Err(AnsibleError::NoVenv(why));
        }
        self.report(&format!("Installing ansible-core {version} for first use. This takes about a minute."));
        let bin = folder.join("bin");
        let package = format!("ansible-core=={version}");
        let pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", &package];
        if let Err(why) = self.run(bin.join("python3").as_os_str(), &pip).await {
            drop(std::fs::remove_dir_all(&folder));
            return Err(AnsibleError::NotInstalled(why));
        }
        let current = serde_json::to_vec(&Current { folder: name, version: version.to_owned() }).unwrap_or_default();
        disk::save(&self.folder.join("current.json"), &current).map_err(|error| self.folder_error(&error))?;
        Ok(Installed { bin, version: version.to_owned() })
    }

    /// Removes installations that no run uses any more. Called when a run has ended. With one installation it only lists a folder.
    pub(crate) async fn remove_unused(&self) {
        // If the lock is taken, another attempt is running, and removes unused installations itself.
        let current = self.attempt.try_lock().ok().and_then(|attempt| match &*attempt {
            Some(Ok(installed)) if self.existing.is_none() => Some(installed.clone()),
            _ => None,
        });
        if let Some(current) = current {
            self.remove_others(&current).await;
        }
    }

    /// Removes all installations except `current` and those that a run uses.
    async fn remove_others(&self, current: &Installed) {
        let (data_dir, folder) = (self.data_dir.clone(), self.folder.clone());
        let current = current.bin.parent().and_then(Path::file_name).unwrap_or_default().to_owned();
        let remove = move || {
            disk::remove_leftovers(&folder);
            let names = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            for old in names.filter(|name| *name != current) {
                let name = old.to_string_lossy();
                if name.starts_with(PREFIX) && !run_dir::is_in_use(&data_dir, &format!("/{name}/")) {
                    tracing::info!(%name, "removing an ansible installation that no run uses any more");
                    drop(std::fs::remove_dir_all(folder.join(&old)));
                }
            }
        };
        drop(tokio::task::spawn_blocking(remove).await);
    }

    fn report(&self, sentence: &str) {
        tracing::info!("{sentence}");
        self.progress.send_replace(sentence.to_owned());
    }

    fn folder_error(&self, error: &std::io::Error) -> AnsibleError {
        AnsibleError::Folder(self.folder.clone(), error.to_string())
    }

    /// Runs a program. Returns its output, or the last line of its errors.
    async fn run(&self, program: &std::ffi::OsStr, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.map_err(|error| format!("{}: {error}", program.display()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let texts = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let last = texts.iter().find_map(|text| text.lines().map(str::trim).rfind(|line| !line.is_empty()));
        Err(last.map_or_else(
            || output.status.to_string(),
            |line| line.trim_start_matches("ERROR: ").trim_end_matches('.').to_owned(),
        ))
    }
}

#[cfg(test)]
#[path = "ansible_tests.rs"]
mod tests;
