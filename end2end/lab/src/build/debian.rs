//! Root file systems from Debian packages. `packages.txt` lists the wanted packages, `packages.lock` every package file with
//! its SHA-256. If the mirror has other files, the build fails until the lock is updated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::part::{Built, Part};
use crate::error::{Doing, Error};
use crate::layout::parts;
use crate::{files, program};

const SUITE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";

/// Units that would change the computer (kernel parameters, modules, devices), or wait for hardware that a container doesn't
/// have.
const MASKED: &[&str] = &[
    "systemd-sysctl.service",
    "systemd-modules-load.service",
    "systemd-udevd.service",
    "systemd-udevd-control.socket",
    "systemd-udevd-kernel.socket",
    "systemd-udev-trigger.service",
    "systemd-remount-fs.service",
    "systemd-logind.service",
    "sys-kernel-debug.mount",
    "sys-kernel-config.mount",
    "sys-kernel-tracing.mount",
    "sys-fs-fuse-connections.mount",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "getty.target",
    "console-getty.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    "nftables.service",
];

/// Installed, but not started at boot.
const NOT_STARTED: &[&str] = &["containerd.service", "haproxy.service", "cron.service"];

/// The root of machines and of the lab's Kubernetes nodes.
pub(crate) fn machine_root(part: &Part, _: &Built, to: &Path) -> Result<(), Error> {
    let root = to.join("root");
    install(part.name, &root)?;
    let system = root.join("etc/systemd/system");
    for unit in MASKED {
        files::link("/dev/null", &system.join(unit))?;
    }
    files::link("/lib/systemd/system/multi-user.target", &system.join("default.target"))?;
    for unit in NOT_STARTED {
        files::remove(&system.join("multi-user.target.wants").join(unit))?;
    }
    // Each machine gets its own host keys when it is made.
    for file in files::children(&root.join("etc/ssh")) {
        if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ssh_host_")) {
            files::remove(&file)?;
        }
    }
    files::write(
        &root.join("etc/ssh/sshd_config.d/lab.conf"),
        0o644,
        "UseDNS no\nPermitRootLogin prohibit-password\nMaxStartups 50:30:100\n",
    )?;
    files::write(&root.join("etc/machine-id"), 0o444, "")?;
    files::make_folder(&root.join("lib/modules"))
}

/// Installs the packages of a part and compares them with the lock.
pub(crate) fn install(part: &str, root: &Path) -> Result<(), Error> {
    // `pin` keeps the packages from which it wrote the lock: no second download.
    match root.ancestors().nth(2).map(|cache| pinned(part, cache)).filter(|pinned| pinned.is_dir()) {
        Some(pinned) => std::fs::rename(&pinned, root).doing(|| format!("move {}", pinned.display()))?,
        None => bootstrap(part, root)?,
    }
    let lock = parts().join(part).join("packages.lock");
    let wanted = files::read(&lock).unwrap_or_default();
    let differences = differences(&wanted, &checksums(root)?);
    if !differences.is_empty() {
        return Err(Error::Pins { part: part.to_owned(), differences });
    }
    remove_downloads(root)
}

/// Writes the packages that the mirror has now into the lock of a part. Returns the changes. If there are any, keeps the
/// installed root file system for the next build.
pub(crate) fn pin(part: &str, cache: &Path) -> Result<Vec<String>, Error> {
    let root = pinned(part, cache);
    files::remove(&root)?;
    if let Err(error) = bootstrap(part, &root) {
        files::remove(&root)?;
        return Err(error);
    }
    let lock = parts().join(part).join("packages.lock");
    let fresh = checksums(&root)?;
    let changed = differences(&files::read(&lock).unwrap_or_default(), &fresh);
    if changed.is_empty() {
        files::remove(&root)?;
    }
    files::write(&lock, 0o644, fresh)?;
    Ok(changed)
}

fn pinned(part: &str, cache: &Path) -> PathBuf {
    cache.join(format!("pin-{part}"))
}

fn bootstrap(part: &str, root: &Path) -> Result<(), Error> {
    if let Some(folder) = root.parent() {
        files::make_folder(folder)?;
    }
    let packages = files::read(&parts().join(part).join("packages.txt"))?;
    let packages: Vec<_> =
        packages.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    let mirror = std::env::var("KUBEONKUBE_LAB_DEBIAN").unwrap_or_else(|_| MIRROR.to_owned());
    program::run(
        // In its own mount namespace: if it is killed, the kernel removes the mounts that package scripts need.
        Command::new("unshare")
            .args(["--mount", "--propagation", "private", "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase"])
            .args(["--skip=cleanup/apt", "--dpkgopt=path-exclude=/usr/share/man/*"])
            // No fsync: an unfinished root file system is removed anyway.
            .arg("--dpkgopt=force-unsafe-io")
            .args(["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/locale/*"])
            // The indexes of old snapshots have expired.
            .arg("--aptopt=Acquire::Check-Valid-Until \"false\"")
            .arg(format!("--include={}", packages.join(",")))
            .arg(SUITE)
            .arg(root)
            .arg(mirror),
    )
}

fn archives(root: &Path) -> PathBuf {
    root.join("var/cache/apt/archives")
}

/// Lines `sha256  file` of all installed packages, sorted by file. The sums come from apt's index. apt has checked the index
/// against Debian's signature, and each file against the index.
fn checksums(root: &Path) -> Result<String, Error> {
    let status = files::read(&root.join("var/lib/dpkg/status"))?;
    let installed: BTreeSet<_> =
        status.split("\n\n").filter_map(|entry| Some((field(entry, "Package")?, field(entry, "Version")?))).collect();
    let mut lines = BTreeSet::new();
    let lists = files::children(&root.join("var/lib/apt/lists"));
    for index in lists.iter().filter(|file| file.to_string_lossy().ends_with("_Packages")) {
        for package in files::read(index)?.split("\n\n") {
            let name = (field(package, "Package"), field(package, "Version"));
            if let ((Some(package_name), Some(version)), Some(file), Some(sum)) =
                (name, field(package, "Filename"), field(package, "SHA256"))
                && installed.contains(&(package_name, version))
            {
                lines.insert((file.rsplit('/').next().unwrap_or(file).to_owned(), sum.to_owned()));
            }
        }
    }
    if lines.len() < installed.len() {
        let why = format!("it lists {} of {} installed packages", lines.len(), installed.len());
        return Err(Error::Malformed { file: root.join("var/lib/apt/lists"), why });
    }
    Ok(lines.into_iter().map(|(file, sum)| format!("{sum}  {file}\n")).collect())
}

/// A field of a paragraph of Debian's control files.
fn field<'a>(paragraph: &'a str, name: &str) -> Option<&'a str> {
    paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The differences between two locks, one text for each package.
fn differences(wanted: &str, found: &str) -> Vec<String> {
    let (wanted, found) = (by_package(wanted), by_package(found));
    let mut all: Vec<_> = wanted.keys().chain(found.keys()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .filter_map(|package| match (wanted.get(package), found.get(package)) {
            (Some(a), Some(b)) if a == b => None,
            (Some((_, old)), Some((_, new))) if old == new => Some(format!("{old}: other content")),
            (Some((_, old)), Some((_, new))) => Some(format!("{old} is now {new}")),
            (Some((_, old)), None) => Some(format!("{old} is missing")),
            (None, Some((_, new))) => Some(format!("{new} is not in the lock")),
            (None, None) => None,
        })
        .collect()
}

fn by_package(lock: &str) -> BTreeMap<&str, (&str, &str)> {
    lock.lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(sum, file)| (file.split('_').next().unwrap_or(file), (sum, file)))
        .collect()
}

/// Removes the downloaded packages and indexes.
fn remove_downloads(root: &Path) -> Result<(), Error> {
    for folder in [archives(root), root.join("var/lib/apt/lists")] {
        files::remove(&folder)?;
        // apt needs the folder `partial`.
        std::fs::create_dir_all(folder.join("partial")).doing(|| format!("make {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_holds_every_installed_package() {
        let root = tempfile::tempdir().unwrap();
        let at = |file: &str| root.path().join(file);
        let package = |name: &str| {
            format!("Package: {name}\nVersion: 1.0\nFilename: pool/main/{name}_1.0_amd64.deb\nSHA256: sum-of-{name}\n")
        };
        let (bash, curl) = (package("bash"), package("curl"));
        files::write(&at("var/lib/dpkg/status"), 0o644, format!("{bash}\n{}", package("zip"))).unwrap();
        files::write(&at("var/lib/apt/lists/debian_Packages"), 0o644, format!("{bash}\n{curl}")).unwrap();
        assert!(checksums(root.path()).unwrap_err().to_string().contains("1 of 2"));
        files::write(&at("var/lib/dpkg/status"), 0o644, &bash).unwrap();
        assert_eq!(checksums(root.path()).unwrap(), "sum-of-bash  bash_1.0_amd64.deb\n");
    }

    #[test]
    fn a_package_that_differs_from_the_lock_is_reported() {
        let lock = "aa  bash_5.2_amd64.deb\nbb  curl_7.88_amd64.deb\n";
        assert!(differences(lock, lock).is_empty());
        assert_eq!(
            differences(lock, "aa  bash_5.2_amd64.deb\ncc  curl_7.89_amd64.deb\n"),
            ["curl_7.88_amd64.deb is now curl_7.89_amd64.deb"]
        );
        assert_eq!(
            differences(lock, "ab  bash_5.2_amd64.deb\nbb  curl_7.88_amd64.deb\ndd  zip_3_amd64.deb\n"),
            ["bash_5.2_amd64.deb: other content", "zip_3_amd64.deb is not in the lock"]
        );
    }
}
