//! The disk of a machine: an overlay on the root file system that all machines share, and the files of a first boot, such as
//! host name and SSH keys.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::addresses::BRIDGE;
use crate::error::{Doing, Error};
use crate::machine::description::{Description, Folder};
use crate::{files, keys, program};

/// Folders that must be on the computer's file system and not on an overlay: containerd on a machine mounts overlays on them,
/// etcd and journald map files into memory.
pub(crate) const ON_DISK: &[&str] = &["/var/lib/containerd", "/var/lib/kubelet", "/var/lib/etcd", "/var/log"];

/// The folder on the computer that is mounted on `at`, one of [`ON_DISK`].
pub(crate) fn on_disk(disk: &Path, at: &str) -> std::path::PathBuf {
    disk.join("data").join(at.trim_start_matches('/').replace('/', "-"))
}

/// Kernel parameters that kubelet sets, with its values. They belong to the whole computer, so an ordinary file is mounted
/// over each of them.
pub(crate) const KERNEL_PARAMETERS: &[(&str, &str)] = &[
    ("vm/overcommit_memory", "1"),
    ("vm/panic_on_oom", "0"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

/// Makes the folders of a disk that don't exist yet, and mounts it.
pub(crate) fn prepare(machine: &Description, folder: &Folder) -> Result<(), Error> {
    let disk = folder.disk();
    for part in ["changes", "work"] {
        files::make_folder(&disk.join(part))?;
    }
    files::make_folder(&folder.root())?;
    for at in ON_DISK {
        files::make_folder(&on_disk(&disk, at))?;
    }
    for (name, value) in KERNEL_PARAMETERS {
        files::write(&kernel_files(folder).join(file_of_parameter(name)), 0o644, format!("{value}\n"))?;
    }
    mount(&machine.root, &disk, &folder.root())
}

/// The folder on a machine that holds the files for [`KERNEL_PARAMETERS`].
pub(crate) const KERNEL_SHARE: &str = "/run/lab-kernel";

pub(crate) fn kernel_files(folder: &Folder) -> std::path::PathBuf {
    folder.disk().join("kernel")
}

pub(crate) fn file_of_parameter(name: &str) -> String {
    name.replace('/', ".")
}

fn mount(below: &Path, disk: &Path, at: &Path) -> Result<(), Error> {
    if program::run(Command::new("mountpoint").arg("--quiet").arg(at)).is_ok() {
        return Ok(());
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        below.display(),
        disk.join("changes").display(),
        disk.join("work").display()
    );
    program::run(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(at))
}

/// Writes the files that differ between machines, into the upper layer of the disk.
pub(crate) fn personalise(machine: &Description, folder: &Folder, lab_keys: &Path) -> Result<(), Error> {
    let changes = folder.disk().join("changes");
    let etc = changes.join("etc");
    let name = &machine.name;
    let authorized = files::read(&keys::own(lab_keys).with_extension("pub"))?;
    let ssh = changes.join("root/.ssh");
    files::write(&ssh.join("authorized_keys"), 0o600, authorized)?;
    // sshd accepts keys only from a folder that no other user can write to.
    set_mode(&changes.join("root"), 0o700)?;
    set_mode(&ssh, 0o700)?;
    files::write(&etc.join("hostname"), 0o644, format!("{name}\n"))?;
    files::write(&etc.join("hosts"), 0o644, format!("127.0.0.1 localhost\n{} {name}\n", machine.address))?;
    // CoreDNS needs a nameserver in this file. This one never answers.
    files::write(&etc.join("resolv.conf"), 0o644, format!("nameserver {BRIDGE}\n"))?;
    // A persistent journal can be read when the machine is off.
    let journal = "[Journal]\nStorage=persistent\nSystemMaxUse=64M\n";
    files::write(&etc.join("systemd/journald.conf.d/lab.conf"), 0o644, journal)?;
    let id = files::read(Path::new("/proc/sys/kernel/random/uuid"))?.replace('-', "");
    files::write(&etc.join("machine-id"), 0o444, id)?;
    let host_key = host_key(lab_keys, name);
    for (from, to, mode) in [
        (host_key.clone(), "ssh/ssh_host_ed25519_key", 0o600),
        (host_key.with_extension("pub"), "ssh/ssh_host_ed25519_key.pub", 0o644),
    ] {
        files::write(&etc.join(to), mode, files::read(&from)?)?;
    }
    Ok(())
}

/// Makes the host key of a machine. Returns its line for `known_hosts`. A reset keeps the key, so that this line stays valid.
pub(crate) fn make_host_key(machine: &Description, lab_keys: &Path) -> Result<String, Error> {
    let (private, public) = keys::pair(&machine.name)?;
    let file = host_key(lab_keys, &machine.name);
    files::write(&file, 0o600, private)?;
    files::write(&file.with_extension("pub"), 0o644, &public)?;
    Ok(format!("{},{} {public}", machine.name, machine.address))
}

fn host_key(lab_keys: &Path, name: &str) -> std::path::PathBuf {
    lab_keys.join("hosts").join(name)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .doing(|| format!("set the mode of {}", path.display()))
}
