//! The ansible-core that local runs use: a virtual environment in the data directory, made when the first run needs it.
//!
//! Every installation has a folder of its own, and a run keeps the one it began with: a newer program brings another version,
//! or the system another Python, while runs that the last server began are still going.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::{Mutex, watch};

use super::run_dir::{self, write_durably};

/// The newest ansible-core that each Python can run; the first one that fits is taken. The runner image has the same.
const VERSIONS: [((u32, u32), &str); 3] = [((3, 11), "2.18.19"), ((3, 10), "2.17.14"), ((3, 9), "2.15.13")];
/// Of the names of installations below `<data>/ansible`.
const PREFIX: &str = "venv-";
/// Names an existing installation: the folder that holds `ansible-playbook`.
const VARIABLE: &str = "KUBEONKUBE_ANSIBLE";

/// Why there is no ansible. The text is what a user reads at the waiting operation.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AnsibleError {
    #[error(
        "{0} holds no ansible-playbook. Correct KUBEONKUBE_ANSIBLE, or leave it out: then ansible-core is installed in the data directory."
    )]
    NotThere(PathBuf),
    #[error("Python 3 was not found, and runs on this machine need it. On Debian: apt install python3-venv. ({0})")]
    NoPython(String),
    #[error(
        "this machine has Python {0}, but ansible-core needs 3.9 or newer. Set KUBEONKUBE_ANSIBLE to the bin folder of an ansible installation."
    )]
    OldPython(String),
    #[error("a virtual environment can't be made: {0}. On Debian: apt install python3-venv.")]
    NoVenv(String),
    #[error(
        "ansible-core can't be installed: {0}. It comes from a Python package index; where there is none, set KUBEONKUBE_ANSIBLE to the bin folder of an ansible installation."
    )]
    NotInstalled(String),
    #[error("{0} can't be used: {1}")]
    Folder(PathBuf, String),
}

/// An ansible that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The folder of `ansible-playbook` and its `python3`.
    pub bin: PathBuf,
    /// Of ansible-core, such as `2.18.19`; empty where it was brought along.
    pub version: String,
}

/// What `<data>/ansible/current.json` says.
#[derive(Serialize, Deserialize)]
struct Current {
    folder: String,
    version: String,
}

/// Finds or makes the installation; all who need it at once share one attempt. A failed one is repeated when the next run needs it.
#[derive(Debug)]
pub struct Ansible {
    data_dir: PathBuf,
    /// `<data>/ansible`.
    folder: PathBuf,
    existing: Option<PathBuf>,
    python: OsString,
    attempt: Mutex<Attempt>,
    failures: AtomicU64,
    progress: watch::Sender<String>,
}

#[derive(Debug)]
enum Attempt {
    None,
    Done(Installed),
    Failed(AnsibleError),
}

impl Ansible {
    /// Below this data directory; or `existing`, the bin folder of an installation, which is used as it is.
    pub fn new(data_dir: &Path, existing: Option<PathBuf>) -> Self {
        let (attempt, failures, progress) =
            (Mutex::new(Attempt::None), AtomicU64::new(0), watch::Sender::new(String::new()));
        let (data_dir, folder) = (data_dir.to_owned(), data_dir.join("ansible"));
        Self { data_dir, folder, existing, python: "python3".into(), attempt, failures, progress }
    }

    /// As [`Ansible::new`], with what the environment variable `KUBEONKUBE_ANSIBLE` names.
    pub fn from_env(data_dir: &Path) -> Self {
        Self::new(data_dir, std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from))
    }

    /// Another Python than the first `python3` of the path.
    #[must_use]
    pub fn with_python(mut self, python: impl Into<OsString>) -> Self {
        self.python = python.into();
        self
    }

    /// What is being done, as sentences; empty while nothing is.
    pub fn progress(&self) -> watch::Receiver<String> {
        self.progress.subscribe()
    }

    /// The installation, made now if there is none yet, which takes a minute.
    pub async fn installed(&self) -> Result<Installed, AnsibleError> {
        let failures = self.failures.load(Ordering::Acquire);
        let mut attempt = self.attempt.lock().await;
        match &*attempt {
            Attempt::Done(installed) => return Ok(installed.clone()),
            // It failed while we waited for it: trying again at once would let all who wait fail one after the other.
            Attempt::Failed(error) if self.failures.load(Ordering::Acquire) > failures => return Err(error.clone()),
            Attempt::None | Attempt::Failed(_) => {}
        }
        let outcome = self.find_or_install().await;
        *attempt = match &outcome {
            Ok(installed) => Attempt::Done(installed.clone()),
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Release);
                Attempt::Failed(error.clone())
            }
        };
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
            // Where the system's Python is not to be had any more, what works is good enough.
            (Some(found), wanted) if wanted.as_ref().map_or(true, |wanted| *wanted == found.version) => found,
            (found, wanted) => match (self.install(wanted?).await, found) {
                (Ok(installed), _) => installed,
                // Perhaps there is no way to a package index today.
                (Err(error), Some(found)) => {
                    tracing::warn!(%error, "ansible-core {} stays, because a newer one can't be installed", found.version);
                    found
                }
                (Err(error), None) => return Err(error),
            },
        };
        self.remove_unused(&installed).await;
        Ok(installed)
    }

    /// An earlier installation, if it still works: a virtual environment breaks when the system's Python is replaced.
    async fn found(&self) -> Option<Installed> {
        let current: Current = serde_json::from_slice(&std::fs::read(self.folder.join("current.json")).ok()?).ok()?;
        let bin = std::path::absolute(self.folder.join(current.folder).join("bin")).ok()?;
        let check = ["-I", "-c", "import ansible.cli.playbook"];
        self.run(bin.join("python3").as_os_str(), &check).await.ok()?;
        Some(Installed { bin, version: current.version })
    }

    /// The version that this machine's Python can run.
    async fn wanted(&self) -> Result<&'static str, AnsibleError> {
        let python = self.run(&self.python, &["-I", "-c", "import sys; print('%d %d' % sys.version_info[:2])"]).await;
        let python = python.map_err(AnsibleError::NoPython)?;
        let mut parts = python.split_whitespace().filter_map(|part| part.parse().ok());
        let found: (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let version = VERSIONS.iter().find(|(needed, _)| found >= *needed).map(|(_, version)| *version);
        version.ok_or_else(|| AnsibleError::OldPython(format!("{}.{}", found.0, found.1)))
    }

    async fn install(&self, version: &'static str) -> Result<Installed, AnsibleError> {
        // A folder of its own for every attempt: what an interrupted one left running can't spoil this one.
        let name = format!("{PREFIX}{version}-{}", uuid::Uuid::new_v4());
        let folder = std::path::absolute(self.folder.join(&name)).map_err(|error| self.unusable(&error))?;
        std::fs::create_dir_all(&folder).map_err(|error| self.unusable(&error))?;
        self.say(&format!("Installing ansible-core {version} for first use: making a Python environment."));
        let path = folder.to_string_lossy();
        if let Err(why) = self.run(&self.python, &["-I", "-m", "venv", &path]).await {
            drop(std::fs::remove_dir_all(&folder));
            return Err(AnsibleError::NoVenv(why));
        }
        self.say(&format!("Installing ansible-core {version} for first use. This takes about a minute."));
        let bin = folder.join("bin");
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            &format!("ansible-core=={version}"),
        ];
        let outcome = self.run(bin.join("python3").as_os_str(), &pip).await;
        if let Err(why) = outcome {
            drop(std::fs::remove_dir_all(&folder));
            return Err(AnsibleError::NotInstalled(why));
        }
        let current = serde_json::to_vec(&Current { folder: name, version: version.to_owned() }).unwrap_or_default();
        write_durably(&self.folder.join("current.json"), &current, 0o600).map_err(|error| self.unusable(&error))?;
        Ok(Installed { bin, version: version.to_owned() })
    }

    /// Removes installations that no run uses any more. To be called when a run has ended; where there is only one, it costs
    /// a look into a folder.
    pub(super) async fn forget_unused(&self) {
        // Whoever holds the lock is about to look too.
        let current = self.attempt.try_lock().ok().and_then(|attempt| match &*attempt {
            Attempt::Done(installed) if self.existing.is_none() => Some(installed.clone()),
            _ => None,
        });
        if let Some(current) = current {
            self.remove_unused(&current).await;
        }
    }

    async fn remove_unused(&self, current: &Installed) {
        let (data_dir, folder) = (self.data_dir.clone(), self.folder.clone());
        let current = current.bin.parent().and_then(Path::file_name).unwrap_or_default().to_owned();
        let remove = move || {
            let names = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            for old in names.filter(|name| *name != current) {
                let name = old.to_string_lossy();
                if name.starts_with(PREFIX) && !run_dir::is_given(&data_dir, &format!("/{name}/")) {
                    tracing::info!(%name, "removing an ansible that no run uses any more");
                    drop(std::fs::remove_dir_all(folder.join(&old)));
                }
            }
        };
        drop(tokio::task::spawn_blocking(remove).await);
    }

    fn say(&self, sentence: &str) {
        tracing::info!("{sentence}");
        self.progress.send_replace(sentence.to_owned());
    }

    fn unusable(&self, error: &std::io::Error) -> AnsibleError {
        AnsibleError::Folder(self.folder.clone(), error.to_string())
    }

    /// Its output, or its last words.
    async fn run(&self, program: &std::ffi::OsStr, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.map_err(|error| format!("{}: {error}", program.display()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let said = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let last = said.iter().find_map(|text| text.lines().map(str::trim).rfind(|line| !line.is_empty()));
        Err(last.map_or_else(
            || output.status.to_string(),
            |line| line.trim_start_matches("ERROR: ").trim_end_matches('.').to_owned(),
        ))
    }
}

#[cfg(test)]
#[path = "ansible_tests.rs"]
mod tests;
