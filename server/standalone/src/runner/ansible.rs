//! The ansible-core that local runs use: a virtual environment in the data directory, made when the first run needs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::{Mutex, watch};

use super::run_dir::write_durably;

/// The newest ansible-core that each Python can run; the first one that fits is taken. The runner image has the same.
const VERSIONS: [((u32, u32), &str); 3] = [((3, 11), "2.18.19"), ((3, 10), "2.17.14"), ((3, 9), "2.15.13")];
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
        Self { folder: data_dir.join("ansible"), existing, python: "python3".into(), attempt, failures, progress }
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
        match self.found().await {
            Some(installed) => Ok(installed),
            None => self.install().await,
        }
    }

    /// An earlier installation, if it still works: a virtual environment breaks when the system's Python is replaced.
    async fn found(&self) -> Option<Installed> {
        let current: Current = serde_json::from_slice(&std::fs::read(self.folder.join("current.json")).ok()?).ok()?;
        let bin = std::path::absolute(self.folder.join(current.folder).join("bin")).ok()?;
        let check = ["-I", "-c", "import ansible.cli.playbook"];
        self.run(bin.join("python3").as_os_str(), &check).await.ok()?;
        Some(Installed { bin, version: current.version })
    }

    async fn install(&self) -> Result<Installed, AnsibleError> {
        let python = self.run(&self.python, &["-I", "-c", "import sys; print('%d %d' % sys.version_info[:2])"]).await;
        let python = python.map_err(AnsibleError::NoPython)?;
        let mut parts = python.split_whitespace().filter_map(|part| part.parse().ok());
        let found: (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let Some((_, version)) = VERSIONS.iter().find(|(needed, _)| found >= *needed) else {
            return Err(AnsibleError::OldPython(format!("{}.{}", found.0, found.1)));
        };
        // A folder of its own for every attempt: what an interrupted one left running can't spoil this one.
        let name = format!("venv-{}", uuid::Uuid::new_v4());
        let folder = std::path::absolute(self.folder.join(&name)).map_err(|error| self.unusable(&error))?;
        std::fs::create_dir_all(&folder).map_err(|error| self.unusable(&error))?;
        self.say("Making a Python environment for ansible in the data directory.");
        let path = folder.to_string_lossy();
        self.run(&self.python, &["-I", "-m", "venv", &path]).await.map_err(AnsibleError::NoVenv)?;
        self.say(&format!(
            "Installing ansible-core {version} in the data directory; this is done once and takes about a minute."
        ));
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
        let current =
            serde_json::to_vec(&Current { folder: name.clone(), version: (*version).to_owned() }).unwrap_or_default();
        write_durably(&self.folder.join("current.json"), &current, 0o600).map_err(|error| self.unusable(&error))?;
        self.remove_all_but(&name);
        Ok(Installed { bin, version: (*version).to_owned() })
    }

    fn remove_all_but(&self, current: &str) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let old = entries.filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("venv-") && name != *current
        });
        for entry in old {
            drop(std::fs::remove_dir_all(entry.path()));
        }
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
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_existing_installation_is_used_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ansible-playbook"), "").unwrap();
        let ansible = Ansible::new(folder.path(), Some(folder.path().to_owned()));
        assert_eq!(ansible.installed().await.unwrap().bin, folder.path());
    }

    #[tokio::test]
    async fn a_wrong_folder_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let ansible = Ansible::new(folder.path(), Some(folder.path().join("nothing")));
        assert!(ansible.installed().await.unwrap_err().to_string().contains("nothing holds no ansible-playbook"));
    }

    #[tokio::test]
    async fn a_failed_attempt_says_why_and_is_repeated_on_the_next_use() {
        let folder = tempfile::tempdir().unwrap();
        let ansible = Ansible::new(folder.path(), None).with_python(folder.path().join("python"));
        let error = ansible.installed().await.unwrap_err().to_string();
        assert!(error.contains("Python 3 was not found"), "{error}");
        std::os::unix::fs::symlink("/bin/false", folder.path().join("python")).unwrap();
        assert!(ansible.installed().await.is_err());
        std::fs::remove_file(folder.path().join("python")).unwrap();
        std::fs::write(folder.path().join("python"), "#!/bin/sh\necho 3 7\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path().join("python"), std::fs::Permissions::from_mode(0o700)).unwrap();
        let error = ansible.installed().await.unwrap_err().to_string();
        assert!(error.contains("Python 3.7"), "{error}");
    }
}
