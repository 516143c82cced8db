//! Root file systems from Debian packages. A Dockerfile of the product or `packages.txt` lists the wanted packages, `packages.lock`
//! every package file with its SHA-256. If the mirror has other files, their differences are written beside the root.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::part::{Built, Part};
use crate::build::{dockerfile, image};
use crate::error::{Doing, Error};
use crate::layout::{parts, workspace};
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
const NOT_STARTED: &[&str] = &["containerd.service", "haproxy.service", "keepalived.service", "cron.service"];

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

/// The root of the server's image: the packages of deploy/Dockerfile and what they depend on, unpacked. So there is no shell and no
/// package manager, and no script of a package has run.
pub(crate) fn server_root(part: &Part, _: &Built, to: &Path) -> Result<(), Error> {
    let root = to.join("root");
    install(part.name, &root)?;
    for folder in ["etc", "tmp", "proc", "sys", "dev", "run"] {
        files::make_folder(&root.join(folder))?;
    }
    let users = "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n";
    files::write(&root.join("etc/passwd"), 0o644, users)?;
    files::write(&root.join("etc/group"), 0o644, "root:x:0:\nnogroup:x:65534:\n")?;
    files::write(&root.join("etc/nsswitch.conf"), 0o644, "hosts: files dns\n")?;
    take_privileges(&root)
}

/// Lets no program run as another user than its caller: the packages of openssh-client bring `passwd` and others that become root.
fn take_privileges(root: &Path) -> Result<(), Error> {
    for file in files::all_files(root).iter().filter(|file| !file.is_symlink()) {
        let mode =
            std::fs::metadata(file).doing(|| format!("read the mode of {}", file.display()))?.permissions().mode();
        if mode & 0o6000 != 0 {
            std::fs::set_permissions(file, Permissions::from_mode(mode & !0o6000))
                .doing(|| format!("set the mode of {}", file.display()))?;
        }
    }
    Ok(())
}

/// Where the lock of a part is, relative to the repository.
pub(crate) fn lock(part: &str) -> String {
    match part {
        "server-root" => "deploy/packages.lock".to_owned(),
        "runner-root" => "deploy/runner/packages.lock".to_owned(),
        part => format!("end2end/lab/parts/{part}/packages.lock"),
    }
}

/// The packages that a part is made from, without those that they depend on.
fn wanted(part: &str) -> Result<Vec<String>, Error> {
    match part {
        "server-root" => Ok(dockerfile::read(&workspace().join(dockerfile::SERVER))?.packages),
        "runner-root" => Ok(dockerfile::read(&workspace().join(dockerfile::RUNNER))?.packages),
        part => {
            let list = files::read(&parts().join(part).join("packages.txt"))?;
            let lines = list.lines().filter(|line| !line.starts_with('#'));
            Ok(lines.flat_map(str::split_whitespace).map(str::to_owned).collect())
        }
    }
}

/// Whether a part is the root of an image for users.
fn is_product(part: &str) -> bool {
    matches!(part, "server-root" | "runner-root")
}

/// What mmdebstrap makes: a small Debian, or only the unpacked packages.
fn variant(part: &str) -> &'static str {
    if part == "server-root" { "extract" } else { "minbase" }
}

/// The differences between the packages of a root and its lock: a file in the part's folder, if there are any.
const DIFFERENCES: &str = "differences";

/// How the packages of the part in this folder differ from its lock. Empty if they don't, or if it has no packages.
pub(crate) fn differences_in(folder: &Path) -> Result<Vec<String>, Error> {
    let file = folder.join(DIFFERENCES);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    Ok(files::read(&file)?.lines().map(str::to_owned).collect())
}

/// Installs the packages of a part and compares them with the lock.
pub(crate) fn install(part: &str, root: &Path) -> Result<(), Error> {
    // `pin` keeps the root file system from which it wrote the lock, so the packages aren't downloaded twice.
    match root.ancestors().nth(2).map(|cache| pinned(part, cache)).filter(|pinned| pinned.is_dir()) {
        Some(pinned) => std::fs::rename(&pinned, root).doing(|| format!("move {}", pinned.display()))?,
        None => bootstrap(part, root)?,
    }
    let wanted = files::read(&workspace().join(lock(part))).unwrap_or_default();
    let differences = differences(&wanted, &checksums(part, root)?);
    if !differences.is_empty() {
        files::write(&root.with_file_name(DIFFERENCES), 0o644, differences.join("\n"))?;
    }
    if variant(part) == "extract" {
        describe_packages(root)?;
    }
    remove_downloads(root)?;
    if is_product(part) { remove_traces(root) } else { Ok(()) }
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
    let lock = workspace().join(lock(part));
    let fresh = checksums(part, &root)?;
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
    let packages = wanted(part)?;
    let mirror = std::env::var("KUBEONKUBE_LAB_DEBIAN").unwrap_or_else(|_| MIRROR.to_owned());
    program::run(
        // In its own mount namespace: if it is killed, the kernel removes the mounts that package scripts need.
        Command::new("unshare")
            .args(["--mount", "--propagation", "private", "mmdebstrap", "--quiet", "--mode=root"])
            .arg(format!("--variant={}", variant(part)))
            // The date in files that package scripts write, such as /etc/shadow.
            .env("SOURCE_DATE_EPOCH", image::SECONDS)
            .args(["--skip=cleanup/apt", "--dpkgopt=path-exclude=/usr/share/man/*"])
            // No fsync: an unfinished root file system is removed anyway.
            .arg("--dpkgopt=force-unsafe-io")
            .args(["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/locale/*"])
            // Who gets an image also gets the licences.
            .args(is_product(part).then_some("--dpkgopt=path-include=/usr/share/doc/*/copyright"))
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

/// Lines `sha256  file` of all packages, sorted by file. apt has checked its index against Debian's signature, and each file against
/// the index.
fn checksums(part: &str, root: &Path) -> Result<String, Error> {
    if variant(part) == "extract" { downloaded(root) } else { installed(root) }
}

/// The sums of the downloaded files: dpkg has no list of packages that were only unpacked.
fn downloaded(root: &Path) -> Result<String, Error> {
    let mut lines = BTreeSet::new();
    for file in packages(root) {
        // apt adds the epoch to the name, `passwd_1%3a4.13+dfsg1-1_amd64.deb`. Mirrors don't.
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = match name.split_once("%3a").and_then(|(start, rest)| Some((start.rsplit_once('_')?.0, rest))) {
            Some((package, version)) => format!("{package}_{version}"),
            None => name,
        };
        lines.insert((name, image::sha256(&file)?));
    }
    Ok(lines.into_iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect())
}

/// The downloaded package files.
fn packages(root: &Path) -> Vec<PathBuf> {
    files::children(&archives(root))
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "deb"))
        .collect()
}

/// Writes what each package is to var/lib/dpkg/status.d, where scanners for vulnerabilities look for packages that were unpacked
/// without dpkg.
fn describe_packages(root: &Path) -> Result<(), Error> {
    for file in packages(root) {
        let description = program::output(Command::new("dpkg-deb").arg("--field").arg(&file))?;
        let name = field(&description, "Package").unwrap_or_default().to_owned();
        files::write(&root.join("var/lib/dpkg/status.d").join(name), 0o644, description)?;
    }
    Ok(())
}

/// The sums of apt's index.
fn installed(root: &Path) -> Result<String, Error> {
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

/// Removes what differs from build to build, and what mmdebstrap copies from this computer.
fn remove_traces(root: &Path) -> Result<(), Error> {
    for file in ["etc/hostname", "etc/resolv.conf", "var/cache/apt/pkgcache.bin", "var/cache/apt/srcpkgcache.bin"] {
        files::remove(&root.join(file))?;
    }
    for file in files::all_files(&root.join("var/log")) {
        files::remove(&file)?;
    }
    // Made by ldconfig, with the times and inodes of libraries.
    files::remove(&root.join("var/cache/ldconfig/aux-cache"))
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
        assert!(installed(root.path()).unwrap_err().to_string().contains("1 of 2"));
        files::write(&at("var/lib/dpkg/status"), 0o644, &bash).unwrap();
        assert_eq!(installed(root.path()).unwrap(), "sum-of-bash  bash_1.0_amd64.deb\n");
    }

    #[test]
    fn every_wanted_package_is_in_its_lock() {
        for part in crate::build::LOCKED {
            let lock = files::read(&workspace().join(lock(part))).unwrap();
            for package in wanted(part).unwrap() {
                assert!(by_package(&lock).contains_key(&*package), "{package}: run `cargo xtask lab pin {part}`");
            }
        }
    }

    #[test]
    fn the_lock_of_unpacked_packages_names_files_as_a_mirror_does() {
        let root = tempfile::tempdir().unwrap();
        for file in ["passwd_1%3a4.13+dfsg1-1_amd64.deb", "debconf_1.5.82_all.deb", "lock"] {
            files::write(&archives(root.path()).join(file), 0o644, "").unwrap();
        }
        let lock = downloaded(root.path()).unwrap();
        let names: Vec<_> = lock.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
        assert_eq!(names, ["debconf_1.5.82_all.deb", "passwd_4.13+dfsg1-1_amd64.deb"]);
    }

    #[test]
    fn no_program_of_the_server_becomes_another_user() {
        let root = tempfile::tempdir().unwrap();
        let mode = |file: &str| std::fs::metadata(root.path().join(file)).unwrap().permissions().mode() & 0o7777;
        for (file, mode) in [("bin/passwd", 0o4755), ("sbin/chkpwd", 0o2755), ("bin/ssh", 0o755)] {
            files::write(&root.path().join(file), mode, "").unwrap();
        }
        files::link("/nowhere", &root.path().join("bin/link")).unwrap();
        take_privileges(root.path()).unwrap();
        assert_eq!([mode("bin/passwd"), mode("sbin/chkpwd"), mode("bin/ssh")], [0o755; 3]);
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
