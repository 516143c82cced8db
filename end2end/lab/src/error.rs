//! Errors of the lab. Their texts say what to do.

use std::path::PathBuf;

/// Every error of the lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computer lacks something. One sentence for each missing thing.
    #[error("this computer can't run the lab:{}", lines(.0))]
    Requirements(Vec<String>),
    /// The same for building the product's images, which needs less.
    #[error("this computer can't build the images:{}", lines(.0))]
    ImageRequirements(Vec<String>),
    /// Parts are missing, and the caller wants none to be built.
    #[error("parts of the lab aren't built: `cargo xtask lab build {}` builds them", .0.join(" "))]
    NotBuilt(Vec<String>),
    #[error(
        "{program} was linked with glibc {needs}, and the image has {has} (Debian 12): build it on Debian 12 or older"
    )]
    NewerGlibc { program: PathBuf, needs: String, has: String },
    #[error("can't {doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("`{program}` failed ({how}){}", tail(.output))]
    Program { program: String, how: String, output: String },
    #[error("gave up waiting for {what} after {seconds} s; last state: {last}")]
    Late { what: String, seconds: u64, last: String },
    #[error("a lab is running already (since {since}, of {folder}). `cargo xtask lab down` ends it.")]
    Running { since: String, folder: PathBuf },
    #[error(
        "a lab is starting (since {since}, by process {process}, of {folder}). `cargo xtask lab status` shows its state, \
         `cargo xtask lab down` ends that process."
    )]
    Starting { process: i32, since: String, folder: PathBuf },
    #[error(
        "a lab is there (of {folder}), but its boot has failed: {why}\n\
         `cargo xtask lab status` and `cargo xtask lab logs` show what was started. Run `cargo xtask lab down` before you \
         boot again."
    )]
    BootFailed { folder: PathBuf, why: String },
    #[error("a crashed lab has left something behind ({what}). `cargo xtask lab down --force` removes it.")]
    LeftOvers { what: String },
    #[error("no lab is running. `cargo xtask lab up` boots one.")]
    NoLab,
    #[error("there is no machine `{name}`; the lab has {}", .known.join(", "))]
    NoSuchMachine { name: String, known: Vec<String> },
    #[error("there is no part `{name}`; the parts are {known}")]
    NoSuchPart { name: String, known: String },
    #[error(
        "{name} is a node of the lab's own Kubernetes, so its disk can't be reset. For a new cluster, run `lab down` and \
         `lab up`."
    )]
    NotExpendable { name: String },
    #[error("{name} is {state} already")]
    AlreadySo { name: String, state: &'static str },
    #[error(
        "the supervisor of {name} was killed, so nothing boots the machine or reports its state (supervisor log: {log}). \
         Run `cargo xtask lab machine stop --hard {name}` to end its remaining processes, then start it again."
    )]
    Orphaned { name: String, log: PathBuf },
    #[error("the lab was ended while it was booting")]
    Ended,
    #[error("there is no release `{minor}` for machines; the releases are {known}")]
    NoSuchRelease { minor: String, known: String },
    #[error("there is no process {process}, whose exit would end the lab")]
    NoProcess { process: i32 },
    #[error("no lab for this test run: {why}")]
    NotShared { why: String },
    #[error("{name} doesn't boot: {why}")]
    NotBooted { name: String, why: String },
    #[error("this lab has no Kubernetes of its own: it was booted with --machines-only")]
    NoCluster,
    #[error(
        "`{part}`: the Debian mirror has other packages than {lock} says:{}\n\
         `cargo xtask lab pin {part}` updates the lock; review the difference before you commit it. To build the locked \
         versions, set KUBEONKUBE_FULL=1, and KUBEONKUBE_LAB_DEBIAN to a mirror that still has them (snapshot.debian.org \
         keeps all).",
        lines(.differences)
    )]
    Pins { part: String, lock: String, differences: Vec<String> },
    #[error("{file} is not as expected: {why}")]
    Malformed { file: PathBuf, why: String },
    #[error("can't make a key or certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("can't make an SSH key: {0}")]
    SshKey(#[from] ssh_key::Error),
    #[error("can't make a client for the lab's Kubernetes: {0}")]
    Kubernetes(#[from] Box<kube::Error>),
    #[error("the kubeconfig {file} can't be used: {why}")]
    Kubeconfig { file: PathBuf, why: String },
}

impl Error {
    /// The exit code of the command line, after sysexits(3): 69 (`EX_UNAVAILABLE`) if the computer lacks something, 75
    /// (`EX_TEMPFAIL`) if there is another lab, otherwise 1. With 69 and 75, nothing has been started.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Requirements(_) | Self::ImageRequirements(_) | Self::NotBuilt(_) => 69,
            Self::Running { .. } | Self::Starting { .. } | Self::BootFailed { .. } => 75,
            Self::LeftOvers { .. } => 76,
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

/// Adds to an I/O error what was being done.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<std::io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing: what(), source: source.into() })
    }
}
