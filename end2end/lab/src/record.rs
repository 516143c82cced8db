//! What is running, written where every checkout of this computer finds it: there is one lab per computer. The record
//! names the process that boots the lab, so that a lab that is just starting is told from one whose boot was killed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{claim::Claims, error::Error, namespaces::Namespaces, process::Process};

/// Where the claim is; `/run` is empty after a reboot, as the lab is.
const RUN: &str = "/run";

/// The running lab.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// `target/lab` of the checkout it belongs to.
    pub(crate) folder: PathBuf,
    pub(crate) since: String,
    /// Who boots it, or has booted it. A lab of an older checkout tells neither this nor how far its boot has come.
    #[serde(default)]
    pub(crate) booter: Process,
    pub(crate) namespaces: Option<Namespaces>,
    /// Machines that tests may do anything to, in order.
    pub(crate) machines: Vec<String>,
    /// Nodes of the lab's own Kubernetes, in order.
    pub(crate) nodes: Vec<String>,
    /// The files of the meta-cluster's kubeconfig: the lab's own, or those that were given. None with machines only.
    #[serde(default)]
    pub(crate) kubeconfigs: Vec<PathBuf>,
    /// The API server is the lab's own: it is reached inside the lab only.
    pub(crate) own_cluster: bool,
    /// All parts it is made of: they may not be removed while it runs.
    #[serde(default)]
    pub(crate) parts: Vec<PathBuf>,
    /// The tools of the lab, once built.
    pub(crate) tools: PathBuf,
    pub(crate) runc: PathBuf,
    pub(crate) kubectl: Option<PathBuf>,
    /// Versions that machines can download, `v1.34.4`.
    pub(crate) releases: Vec<String>,
    #[serde(default)]
    pub(crate) boot: Boot,
}

/// How far the boot has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Boot {
    Underway,
    #[default]
    Ready,
    /// It stopped at a step, for this reason; what had been started before stays.
    Failed(String),
}

impl Record {
    /// A lab without anything, that this process boots.
    #[cfg(test)]
    pub(crate) fn of_tests(booter: Process) -> Self {
        Self {
            folder: "/checkout/target/lab".into(),
            since: "2026-01-01 00:00:00 UTC".into(),
            booter,
            namespaces: None,
            machines: Vec::new(),
            nodes: Vec::new(),
            kubeconfigs: Vec::new(),
            own_cluster: false,
            parts: Vec::new(),
            tools: PathBuf::new(),
            runc: PathBuf::new(),
            kubectl: None,
            releases: Vec::new(),
            boot: Boot::Underway,
        }
    }

    /// Why its boot won't come to an end, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.boot {
            Boot::Failed(why) => Some(why.clone()),
            Boot::Underway if !self.booter.is_alive() => {
                Some(format!("process {}, which booted it, has ended before", self.booter.pid))
            }
            Boot::Underway | Boot::Ready => None,
        }
    }
}

/// What there is of a lab.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// It is claimed, and has no processes of its own yet.
    Starting(Box<Record>),
    /// Its namespaces are there, whether its boot has ended, has failed, or goes on.
    Running(Box<Record>),
    /// A lab that crashed, or whose boot was killed.
    LeftOvers(String),
}

pub(crate) fn find() -> Found {
    match claims().find() {
        Found::Nothing => match crate::cgroups::left() {
            left if left.is_empty() => Found::Nothing,
            left => Found::LeftOvers(left[0].display().to_string()),
        },
        found => found,
    }
}

pub(crate) fn read() -> Result<Record, Error> {
    claims().read()
}

/// Claims the computer for one lab.
pub(crate) fn claim(record: &Record) -> Result<(), Error> {
    refused(find())?;
    claims().claim(record)
}

/// A lab that was ended while it boots stays ended.
pub(crate) fn write(record: &Record) -> Result<(), Error> {
    claims().write(record)
}

pub(crate) fn release() -> Result<(), Error> {
    claims().release()
}

fn claims() -> Claims<'static> {
    Claims(Path::new(RUN))
}

/// Why no lab can be booted beside what there is.
pub(crate) fn refused(found: Found) -> Result<(), Error> {
    match found {
        Found::Nothing => Ok(()),
        Found::Starting(record) => Err(starting(*record)),
        Found::Running(record) => Err(match record.failure() {
            Some(why) => Error::BootFailed { folder: record.folder, why },
            None => Error::Running { since: record.since, folder: record.folder },
        }),
        Found::LeftOvers(what) => Err(Error::LeftOvers { what }),
    }
}

pub(crate) fn starting(record: Record) -> Error {
    Error::Starting { process: record.booter.pid, since: record.since, folder: record.folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lab_is_refused_by_what_the_first_is() {
        let lab = |boot| Box::new(Record { boot, ..Record::of_tests(Process::this().unwrap()) });
        for (found, why) in [
            (Found::Running(lab(Boot::Ready)), "is running already"),
            (Found::Running(lab(Boot::Underway)), "is running already"),
            (Found::Running(lab(Boot::Failed("no room".into()))), "its boot has failed: no room"),
            (Found::Starting(lab(Boot::Underway)), "is starting"),
            (Found::LeftOvers("/sys/fs/cgroup/x".into()), "a crashed lab has left something behind (/sys/fs/cgroup/x)"),
        ] {
            let said = refused(found).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
        refused(Found::Nothing).unwrap();
    }
}
