//! Keeps runs out of the data directory with Landlock, which needs neither privileges nor tools. Why not another user or namespaces:
//! docs/adr/0011. What runs may do with it and without it: docs/security.md.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::{fmt, io, thread};

use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set};
use serde::{Deserialize, Serialize};

/// The newest version whose restrictions are used. Older kernels apply those that they know.
const NEWEST: ABI = ABI::V6;
/// What root keeps in a container of Docker, too, except for making devices.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::AUDIT_WRITE);
/// What programs need of `/dev`. Disks and memory are missing: root could read the data directory from them.
const DEVICES: [&str; 10] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue"];

/// Whether runs are kept out of the data directory. Its text is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// Landlock works on this machine.
    On {
        /// The runs are root's.
        root: bool,
        /// The kernel doesn't yet keep them from truncating files that they can't open (before Linux 6.2).
        truncation: bool,
        /// The kernel doesn't yet keep them from sending signals to the server (before Linux 6.12).
        signals: bool,
    },
    /// The operator turned it off.
    TurnedOff,
    /// Landlock doesn't work on this machine, for this reason.
    Unavailable(String),
}

impl Isolation {
    /// Tries it, on a thread that then ends.
    pub fn detect() -> Self {
        let tried = thread::spawn(|| restrict([], [], [])).join();
        let why = match tried.unwrap_or_else(|_| Err(io::Error::other("its test panicked"))) {
            Ok(LandlockStatus::Available { effective_abi: abi, .. }) => {
                let (truncation, signals) = (abi < ABI::V3, abi < ABI::V6);
                return Self::On { root: geteuid().is_root(), truncation, signals };
            }
            Ok(LandlockStatus::NotEnabled) => {
                "Landlock is not enabled in this kernel. Add landlock to lsm= on the kernel's command line".into()
            }
            Ok(LandlockStatus::NotImplemented) => {
                "Landlock is missing. It needs Linux 5.13, and a container must allow it".into()
            }
            Err(error) => format!("Landlock can't be used: {error}"),
        };
        Self::Unavailable(why)
    }

    /// Whether runs can't read the data directory.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::On { .. })
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = "Runs can read the data directory, with its keys and database.";
        match self {
            Self::On { root, truncation, signals } => {
                write!(f, "on: runs can't read the data directory (Landlock).")?;
                if *root {
                    write!(f, " But they run as root and can change this machine: start kubeonkube as another user.")?;
                }
                match (truncation, signals) {
                    (true, _) => {
                        write!(f, " Before Linux 6.12 they can stop the server, and before 6.2 empty its files.")
                    }
                    (false, true) => write!(f, " Before Linux 6.12 they can stop the server."),
                    (false, false) => Ok(()),
                }
            }
            Self::TurnedOff => write!(f, "off, as --isolation says. {open}"),
            Self::Unavailable(why) => write!(f, "off. {why}. {open}"),
        }
    }
}

/// Which parts of the data directory a run may use. The rest of the machine stays as it is for the server's user, but the home directory
/// is read-only: files such as `.ssh/authorized_keys` would lead out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Confinement {
    pub(crate) data_dir: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: PathBuf,
}

impl Confinement {
    /// Confines this thread and all processes that it starts from now on. That can't be undone.
    pub(crate) fn apply(&self) -> io::Result<()> {
        let failed = |why: &dyn fmt::Display| io::Error::other(format!("the run can't be isolated: {why}"));
        let data = self.data_dir.canonicalize().map_err(|error| failed(&error))?;
        let home = self.home.as_ref().and_then(|home| home.canonicalize().ok()).filter(|home| home.parent().is_some());
        let home = home.unwrap_or_else(|| data.clone());
        let writable = beside(Path::new("/"), &[&data, &home, Path::new("/dev")]);
        let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
        // The data directory may be in the home directory, or the other way round.
        let readable = if home.starts_with(&data) { Vec::new() } else { beside_or_all(&home, &data) };
        let restricted = restrict(
            readable.into_iter().chain(self.read.clone()),
            writable.into_iter().chain(devices).chain([self.write.clone()]),
            [PathBuf::from("/dev")],
        );
        match restricted {
            Ok(LandlockStatus::Available { .. }) => Ok(()),
            Ok(_) => Err(failed(&"this kernel has no Landlock")),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Restricts this thread to these files and folders, and those below them. Without Landlock it restricts no files and says so.
fn restrict(
    read: impl IntoIterator<Item = PathBuf>,
    write: impl IntoIterator<Item = PathBuf>,
    list: impl IntoIterator<Item = PathBuf>,
) -> io::Result<LandlockStatus> {
    drop_capabilities()?;
    let all = AccessFs::from_all(NEWEST);
    // A device file is a way to every disk.
    let write_access: BitFlags<AccessFs> = all & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let rules = || {
        Ruleset::default()
            .handle_access(all)?
            .scope(Scope::from_all(NEWEST))?
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(write, write_access))?
            .add_rules(path_beneath_rules(list, AccessFs::ReadDir))?
            .restrict_self()
    };
    rules().map(|status| status.landlock).map_err(|error: RulesetError| io::Error::other(error))
}

/// The programs that root starts on this thread don't get the other capabilities, which lead around Landlock: CAP_PERFMON reads the memory
/// of other processes, CAP_SYS_RAWIO that of the kernel.
fn drop_capabilities() -> io::Result<()> {
    if geteuid().is_root() {
        for capability in CapabilitySet::all().difference(KEPT).iter() {
            if capability_is_in_bounding_set(capability).unwrap_or(false) {
                remove_capability_from_bounding_set(capability)?;
            }
        }
    }
    Ok(())
}

fn beside_or_all(folder: &Path, hidden: &Path) -> Vec<PathBuf> {
    if hidden.starts_with(folder) { beside(folder, &[hidden]) } else { vec![folder.to_owned()] }
}

/// Everything below `folder` except what is below `hidden`, in as few paths as possible. Landlock only allows: a rule for a folder above
/// `hidden` would allow `hidden` too.
fn beside(folder: &Path, hidden: &[&Path]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // A symbolic link needs no rule, and its target must not get one: it may lead to `hidden`.
    let is_real = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    let paths = entries.filter(is_real).map(|entry| entry.path());
    paths
        .filter(|path| !hidden.contains(&path.as_path()))
        .flat_map(|path| match hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            true => beside(&path, hidden),
            false => vec![path],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_to_a_hidden_folder_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/secret/deep", "a/open", "b/own", "c"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("a/file"), "").unwrap();
        std::os::unix::fs::symlink(at("a/secret"), at("link")).unwrap();
        let mut found = beside(folder.path(), &[&at("a/secret"), &at("b/own")]);
        found.sort_unstable();
        assert_eq!(found, ["a/file", "a/open", "c"].map(at));
        assert_eq!(beside_or_all(&at("a"), &at("b")), [at("a")]);
    }

    #[test]
    fn the_text_says_what_protects_and_what_does_not() {
        let on = |root, truncation, signals| Isolation::On { root, truncation, signals }.to_string();
        assert_eq!(on(false, false, false), "on: runs can't read the data directory (Landlock).");
        assert!(on(true, false, false).contains("as root"));
        assert!(on(false, false, true).contains("stop the server") && !on(false, false, true).contains("empty"));
        assert!(on(false, true, true).contains("empty its files"));
        for off in [Isolation::TurnedOff, Isolation::Unavailable("No".into())] {
            assert!(off.to_string().starts_with("off") && off.to_string().contains("Runs can read the data directory"));
        }
    }
}
