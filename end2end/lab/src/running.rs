//! The running lab, as tests and the command line see it.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use kube::config::KubeConfigOptions;
use kube::{Client, Config};

use crate::cluster::readiness::Administrator;
use crate::error::Error;
use crate::inside::Inside;
use crate::layout::Layout;
use crate::lock::{self, Found};
use crate::machine::Machine;
use crate::record::{Boot, Record};
use crate::{kubeconfig, sharing};

/// A handle to the running lab. Dropping it doesn't end the lab.
#[derive(Debug, Clone)]
pub struct Lab {
    layout: Layout,
    record: Record,
    inside: Inside,
}

impl Lab {
    pub(crate) fn of(layout: Layout, record: Record, inside: Inside) -> Self {
        Self { layout, record, inside }
    }

    /// The lab that runs on this computer, whichever checkout booted it. Its boot may still be running, or may have failed:
    /// see [`Self::condition`].
    ///
    /// # Errors
    /// If no lab is running, or one is just starting.
    pub fn attach() -> Result<Self, Error> {
        match lock::find() {
            Found::Running(record) => {
                let inside = Inside(record.namespaces.ok_or(Error::NoLab)?);
                Ok(Self { layout: Layout::within(record.folder.clone()), inside, record: *record })
            }
            Found::Starting(record) => Err(lock::starting(*record)),
            Found::LeftOvers(what) => Err(Error::LeftOvers { what }),
            Found::Nothing => Err(Error::NoLab),
        }
    }

    /// The lab that test suites share. If none is running, boots one with `cargo xtask lab up` and these arguments, for
    /// example `["--machines", "3"]`. If one is booting, waits for it, at most ten minutes.
    ///
    /// A lab that is booted here ends with the test run, even if tests fail or are killed. If cargo runs the tests, it ends
    /// with cargo, so that all suites of one `cargo test` share it. Otherwise it ends with this process.
    ///
    /// # Errors
    /// If the boot failed; the error contains the reason.
    pub fn shared(arguments: &[&str]) -> Result<Self, Error> {
        // `cargo test` runs the tests of one binary as threads: the first one boots the lab, the others wait for it. Tests that
        // are processes of their own wait for a file lock.
        static BOOT: OnceLock<Result<(), String>> = OnceLock::new();
        match BOOT.get_or_init(|| sharing::boot_if_none(arguments).map_err(|error| error.to_string())) {
            Ok(()) => Self::attach(),
            Err(why) => Err(Error::NotShared { why: why.clone() }),
        }
    }

    /// The machines that tests may change in any way, in order.
    pub fn machines(&self) -> Result<Vec<Machine>, Error> {
        self.record.machines.iter().map(|name| self.machine(name)).collect()
    }

    /// The nodes of the lab's own Kubernetes; they are machines too.
    pub fn nodes(&self) -> Result<Vec<Machine>, Error> {
        self.record.nodes.iter().map(|name| self.machine(name)).collect()
    }

    /// The Kubernetes versions, `v1.36.4`, that machines can download from [`crate::addresses::ARTIFACTS`].
    pub fn releases(&self) -> &[String] {
        &self.record.releases
    }

    /// A machine or node by its name.
    pub fn machine(&self, name: &str) -> Result<Machine, Error> {
        let known: Vec<_> = self.record.machines.iter().chain(&self.record.nodes).cloned().collect();
        if !known.iter().any(|other| other == name) {
            return Err(Error::NoSuchMachine { name: name.to_owned(), known });
        }
        Machine::find(&self.layout, self.inside, name)
    }

    /// A machine whose disk may be reset: not a node of the lab's own Kubernetes.
    pub fn expendable(&self, name: &str) -> Result<Machine, Error> {
        if self.record.nodes.iter().any(|node| node == name) {
            return Err(Error::NotExpendable { name: name.to_owned() });
        }
        self.machine(name)
    }

    /// Whether the lab is up, is booting or has failed to boot, as the rest of a sentence that starts with "the lab".
    pub fn condition(&self) -> String {
        match (self.record.failure(), &self.record.boot) {
            (Some(why), _) => format!("has failed to boot ({why}); `cargo xtask lab down` ends it"),
            (None, Boot::Ready) => "is up".to_owned(),
            (None, _) => format!("is booting, by process {}", self.record.booter.pid),
        }
    }

    /// When its boot started, as text.
    pub fn since(&self) -> &str {
        &self.record.since
    }

    /// `target/lab` of the checkout that booted it.
    pub fn folder(&self) -> &Path {
        &self.layout.folder
    }

    /// The kubeconfig files of the meta-cluster: one, or several if the user gave several in `KUBECONFIG`. The lab's own API
    /// server can only be reached inside the lab.
    pub fn kubeconfig(&self) -> Result<&[PathBuf], Error> {
        if self.record.kubeconfigs.is_empty() { Err(Error::NoCluster) } else { Ok(&self.record.kubeconfigs) }
    }

    /// The SSH private key for root on every machine.
    pub fn key(&self) -> std::path::PathBuf {
        crate::keys::own(&self.layout.keys())
    }

    /// The file with the host keys of all machines, in ssh's format.
    pub fn known_hosts(&self) -> std::path::PathBuf {
        crate::keys::known_hosts(&self.layout.keys())
    }

    /// A statically linked HTTP server and client, a file of this computer that can be copied to machines.
    pub fn probe(&self) -> std::path::PathBuf {
        self.record.tools.join("probe")
    }

    /// A client of the meta-cluster that works outside the lab. A request fails after 40 s without an answer. Watches,
    /// followed logs and upgraded connections have no such limit.
    pub async fn client(&self) -> Result<Client, Error> {
        let files = self.kubeconfig()?;
        let config = Config::from_custom_kubeconfig(kubeconfig::read(files)?, &KubeConfigOptions::default())
            .await
            .map_err(|error| Error::Kubeconfig { file: kubeconfig::list(files).into(), why: error.to_string() })?;
        if self.record.own_cluster {
            return crate::client::inside(&config, self.inside);
        }
        crate::client::outside(&config)
    }

    /// `kubectl` as the administrator of the meta-cluster.
    pub fn kubectl(&self) -> Result<Command, Error> {
        if self.record.own_cluster {
            return Ok(self.administrator()?.kubectl());
        }
        let mut command = Command::new("kubectl");
        command.env("KUBECONFIG", kubeconfig::list(self.kubeconfig()?));
        Ok(command)
    }

    pub(crate) fn administrator(&self) -> Result<Administrator<'_>, Error> {
        let (Some(kubectl), Some(kubeconfig)) = (&self.record.kubectl, self.record.kubeconfigs.first()) else {
            return Err(Error::NoCluster);
        };
        Ok(Administrator { inside: self.inside, kubectl, kubeconfig })
    }

    /// A program inside the lab, where machines, pods and Services can be reached by address. It starts in the root folder,
    /// so paths must be absolute.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.inside.command(program);
        if let (true, [file]) = (self.record.own_cluster, self.record.kubeconfigs.as_slice()) {
            command.env("KUBECONFIG", file);
        }
        command
    }

    /// A connection from outside to an address of the lab.
    pub fn connect(&self, to: SocketAddr, within: Duration) -> Result<TcpStream, Error> {
        self.inside.connect(to, within)
    }
}
