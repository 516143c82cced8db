//! The running lab, as tests and the command line see it.

use std::{
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use kube::{Client, Config, config::KubeConfigOptions};

use crate::{
    cluster::readiness::Administrator,
    error::Error,
    inside::Inside,
    kubeconfig,
    layout::Layout,
    machine::Machine,
    record::{self, Boot, Found, Record},
    sharing,
};

/// A handle on the running lab. Dropping it ends nothing.
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

    /// The lab that runs on this computer, of whichever checkout; its boot may go on, or have failed: see
    /// [`Self::condition`].
    pub fn attach() -> Result<Self, Error> {
        match record::find() {
            Found::Running(record) => {
                let inside = Inside(record.namespaces.ok_or(Error::NoLab)?);
                Ok(Self { layout: Layout { folder: record.folder.clone() }, inside, record: *record })
            }
            Found::Starting(record) => Err(record::starting(*record)),
            Found::LeftOvers(what) => Err(Error::LeftOvers { what }),
            Found::Nothing => Err(Error::NoLab),
        }
    }

    /// The lab that test suites share: the running one, else one that is booted now by `cargo xtask lab up` with these
    /// words, for example `["--machines", "3"]`. A lab that someone is booting is waited for, five minutes at most; one
    /// whose boot has failed is an error that tells why. What is booted here ends with the test run, however that ends: with
    /// cargo where it runs the tests, so that all suites of one `cargo test` share it, else with this process.
    pub fn shared(words: &[&str]) -> Result<Self, Error> {
        // Tests of one binary run at the same time: the first boots, the others wait for it.
        static BOOT: OnceLock<Result<(), String>> = OnceLock::new();
        match BOOT.get_or_init(|| sharing::boot_if_none(words).map_err(|error| error.to_string())) {
            Ok(()) => Self::attach(),
            Err(why) => Err(Error::NotShared { why: why.clone() }),
        }
    }

    /// The machines that tests may do anything to, in order.
    pub fn machines(&self) -> Result<Vec<Machine>, Error> {
        self.record.machines.iter().map(|name| self.machine(name)).collect()
    }

    /// The nodes of the lab's own Kubernetes; they are machines too.
    pub fn nodes(&self) -> Result<Vec<Machine>, Error> {
        self.record.nodes.iter().map(|name| self.machine(name)).collect()
    }

    /// The Kubernetes versions, `v1.34.4`, that machines find at [`crate::addresses::ARTIFACTS`].
    pub fn releases(&self) -> &[String] {
        &self.record.releases
    }

    /// A machine or node by its name.
    pub fn machine(&self, name: &str) -> Result<Machine, Error> {
        let known: Vec<_> = self.record.machines.iter().chain(&self.record.nodes).cloned().collect();
        if !known.iter().any(|one| one == name) {
            return Err(Error::NoSuchMachine { name: name.to_owned(), known });
        }
        Machine::find(&self.layout, self.inside, name)
    }

    /// A machine that may be wiped: no node of the lab's own Kubernetes.
    pub fn expendable(&self, name: &str) -> Result<Machine, Error> {
        if self.record.nodes.iter().any(|node| node == name) {
            return Err(Error::NotExpendable { name: name.to_owned() });
        }
        self.machine(name)
    }

    /// How it is, in words that follow "the lab": whether its boot has ended, goes on, or has failed.
    pub fn condition(&self) -> String {
        match (self.record.failure(), &self.record.boot) {
            (Some(why), _) => format!("has failed to boot ({why}); `cargo xtask lab down` ends it"),
            (None, Boot::Ready) => "is up".to_owned(),
            (None, _) => format!("is booting, by process {}", self.record.booter.pid),
        }
    }

    /// When it was booted, in words.
    pub fn since(&self) -> &str {
        &self.record.since
    }

    /// `target/lab` of the checkout it belongs to.
    pub fn folder(&self) -> &Path {
        &self.layout.folder
    }

    /// The kubeconfig of the meta-cluster, in as many files as `KUBECONFIG` can name. The lab's own API server is reached
    /// inside the lab only.
    pub fn kubeconfig(&self) -> Result<&[PathBuf], Error> {
        if self.record.kubeconfigs.is_empty() { Err(Error::NoCluster) } else { Ok(&self.record.kubeconfigs) }
    }

    /// The private key that opens every machine as root.
    pub fn key(&self) -> std::path::PathBuf {
        crate::keys::own(&self.layout.keys())
    }

    /// The host keys of all machines, in ssh's format.
    pub fn known_hosts(&self) -> std::path::PathBuf {
        crate::keys::known_hosts(&self.layout.keys())
    }

    /// A static program of this computer that serves and fetches over HTTP, to be put on machines.
    pub fn probe(&self) -> std::path::PathBuf {
        self.record.tools.join("probe")
    }

    /// A client of the meta-cluster, for the caller outside. A request that the API server doesn't answer for 40 s fails;
    /// watches, followed logs and upgraded connections may be silent for ever.
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

    /// Any program inside the lab, where machines, pods and Services are reached by address. It starts in the root
    /// folder: paths must be absolute.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.inside.command(program);
        if let (true, [file]) = (self.record.own_cluster, self.record.kubeconfigs.as_slice()) {
            command.env("KUBECONFIG", file);
        }
        command
    }

    /// A connection to an address of the lab, for the caller outside.
    pub fn connect(&self, to: SocketAddr, within: Duration) -> Result<TcpStream, Error> {
        self.inside.connect(to, within)
    }
}
