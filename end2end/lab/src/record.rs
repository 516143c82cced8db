//! What is running, written where every checkout of this computer finds it: there is one lab per computer.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Doing, Error},
    files,
    namespaces::Namespaces,
};

/// Making this folder is the claim; `/run` is empty after a reboot, as the lab is.
const CLAIM: &str = "/run/kubeonkube-lab";

/// The running lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// `target/lab` of the checkout it belongs to.
    pub(crate) folder: PathBuf,
    pub(crate) since: String,
    pub(crate) namespaces: Option<Namespaces>,
    /// Machines that tests may do anything to, in order.
    pub(crate) machines: Vec<String>,
    /// Nodes of the lab's own Kubernetes, in order.
    pub(crate) nodes: Vec<String>,
    /// Where the meta-cluster's kubeconfig lies: the lab's own, or one that was given. None with machines only.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The API server is the lab's own: it is reached inside the lab only.
    pub(crate) own_cluster: bool,
    /// The tools of the lab, once built.
    pub(crate) tools: PathBuf,
    pub(crate) runc: PathBuf,
    pub(crate) kubectl: Option<PathBuf>,
    /// Versions that machines can download, `v1.34.4`.
    pub(crate) releases: Vec<String>,
    /// The boot has come to its end.
    pub(crate) ready: bool,
}

/// What there is of a lab.
pub(crate) enum Found {
    Nothing,
    Running(Box<Record>),
    /// A lab that crashed, or whose boot was killed.
    LeftOvers(String),
}

fn file() -> PathBuf {
    Path::new(CLAIM).join("lab.json")
}

pub(crate) fn find() -> Found {
    if !Path::new(CLAIM).exists() {
        return match crate::cgroups::left() {
            left if left.is_empty() => Found::Nothing,
            left => Found::LeftOvers(left[0].display().to_string()),
        };
    }
    match read() {
        Ok(record) if record.namespaces.is_some_and(Namespaces::are_alive) => Found::Running(Box::new(record)),
        _ => Found::LeftOvers(CLAIM.to_owned()),
    }
}

pub(crate) fn read() -> Result<Record, Error> {
    let file = file();
    serde_json::from_str(&files::read(&file)?).map_err(|error| Error::Malformed { file, why: error.to_string() })
}

/// Claims the computer for one lab.
pub(crate) fn claim() -> Result<(), Error> {
    match find() {
        Found::Nothing => fs::create_dir(CLAIM).doing(|| format!("make {CLAIM}")),
        Found::Running(record) => Err(Error::Running { since: record.since, folder: record.folder }),
        Found::LeftOvers(what) => Err(Error::LeftOvers { what }),
    }
}

/// A lab that was ended while it boots stays ended.
pub(crate) fn write(record: &Record) -> Result<(), Error> {
    if !Path::new(CLAIM).is_dir() {
        return Err(Error::Ended);
    }
    let text = serde_json::to_string_pretty(record)
        .map_err(|error| Error::Malformed { file: file(), why: error.to_string() })?;
    files::replace(&file(), 0o600, text)
}

pub(crate) fn release() -> Result<(), Error> {
    files::remove(Path::new(CLAIM))
}
