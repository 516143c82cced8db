//! Why the lab can't do what was asked, in sentences that say what to do.

use std::path::PathBuf;

/// Everything that can go wrong with the lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computer lacks something; every lack is a sentence of its own.
    #[error("this computer can't run the lab:{}", lines(.0))]
    Requirements(Vec<String>),
    #[error("can't {doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("`{program}` failed ({how}){}", tail(.output))]
    Program { program: String, how: String, output: String },
    #[error("waited {seconds} s for {what}, in vain; at last: {last}")]
    Late { what: String, seconds: u64, last: String },
    #[error("a lab is running already (since {since}, of {folder}). `cargo xtask lab down` there ends it.")]
    Running { since: String, folder: PathBuf },
    #[error(
        "a lab is starting (since {since}, by process {process}, of {folder}). `cargo xtask lab status` says when it is up, \
         `cargo xtask lab down` ends that process."
    )]
    Starting { process: i32, since: String, folder: PathBuf },
    #[error(
        "a lab is there (of {folder}), but its boot has failed: {why}\n\
         `cargo xtask lab status` and `cargo xtask lab logs` show what there is of it; `cargo xtask lab down` ends it, and \
         then it can be booted again."
    )]
    BootFailed { folder: PathBuf, why: String },
    #[error("a crashed lab has left something behind ({what}). `cargo xtask lab down --force` clears it.")]
    LeftOvers { what: String },
    #[error("no lab is running. `cargo xtask lab up` boots one.")]
    NoLab,
    #[error("there is no machine `{name}`; the lab has {}", .known.join(", "))]
    NoSuchMachine { name: String, known: Vec<String> },
    #[error("there is no part `{name}`; there are {known}")]
    NoSuchPart { name: String, known: String },
    #[error(
        "{name} is a node of the lab's own Kubernetes: its disk can't be made new. `lab down` and `lab up` make a new cluster."
    )]
    NotExpendable { name: String },
    #[error("{name} is {state} already")]
    AlreadySo { name: String, state: &'static str },
    #[error(
        "{name} has no supervisor any more, which would boot it and tell its state: it was killed (its log is {log}). \
         `cargo xtask lab machine stop --hard {name}` ends what is left of the machine; then it can be started again."
    )]
    Orphaned { name: String, log: PathBuf },
    #[error("the lab was ended while it was booting")]
    Ended,
    #[error("there is no release `{minor}` for machines; there are {known}")]
    NoSuchRelease { minor: String, known: String },
    #[error("there is no process {process} that the lab could end with")]
    NoProcess { process: i32 },
    #[error("no lab for this test run: {why}")]
    NotShared { why: String },
    #[error("{name} doesn't boot: {why}")]
    NotBooted { name: String, why: String },
    #[error("this lab has no Kubernetes of its own: it was booted with --machines-only")]
    NoCluster,
    #[error(
        "`{part}`: the Debian mirror has other packages than parts/{part}/packages.lock says:{}\n\
         `cargo xtask lab pin {part}` takes them over (look at the difference before you commit it), or name a mirror \
         that still has the old ones in KUBEONKUBE_LAB_DEBIAN (snapshot.debian.org keeps all).", lines(.differences)
    )]
    Pins { part: String, differences: Vec<String> },
    #[error("{file} is not as expected: {why}")]
    Malformed { file: PathBuf, why: String },
    #[error("a key or certificate can't be made: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("an SSH key can't be made: {0}")]
    SshKey(#[from] ssh_key::Error),
    #[error("the lab's Kubernetes can't be asked: {0}")]
    Kubernetes(#[from] Box<kube::Error>),
    #[error("the kubeconfig {file} can't be used: {why}")]
    Kubeconfig { file: PathBuf, why: String },
}

impl Error {
    /// Tells callers apart what they may act on, by the codes of sysexits(3): 69 (`EX_UNAVAILABLE`) where the computer lacks
    /// something, 75 (`EX_TEMPFAIL`) where another lab is in the way. Nothing has been started in either case.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Requirements(_) => 69,
            Self::Running { .. } | Self::Starting { .. } | Self::BootFailed { .. } | Self::LeftOvers { .. } => 75,
            _ => 1,
        }
    }
}

fn lines(all: &[String]) -> String {
    all.iter().map(|line| format!("\n- {line}")).collect()
}

fn tail(output: &str) -> String {
    let lines: Vec<_> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(15)..].iter().map(|line| format!("\n  | {line}")).collect()
}

/// Says what was being done when the operating system refused.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<std::io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing: what(), source: source.into() })
    }
}
