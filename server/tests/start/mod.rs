//! Starts the real program as a separate process, for tests and measurements.

#![allow(dead_code, reason = "each suite uses a part")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program with its data in `data` and without the environment of the current user.
pub(crate) fn program(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("USER", "ann");
    command.env("KUBEONKUBE_DATA_DIR", data).stdin(Stdio::null());
    command
}

/// The program as a server on a free port of loopback. `ansible` is the bin folder of an installation.
pub(crate) fn server(data: &Path, ansible: &Path) -> Command {
    let mut command = program(data);
    command.env("KUBEONKUBE_ANSIBLE", ansible).args(["--listen", "127.0.0.1:0"]);
    command
}

/// `command` with these limits of the shell's `ulimit`.
pub(crate) fn under_ulimit(limits: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("ulimit {limits}; exec \"$0\" \"$@\""))
        .arg(command.get_program())
        .args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    shell
}

/// An installation of ansible that does nothing, in the new folder `folder`. Scripts need no ansible, but without an installed one
/// the server would download it.
pub(crate) fn no_ansible(folder: &Path) -> PathBuf {
    fs::create_dir(folder).expect("a folder");
    fs::write(folder.join("ansible-playbook"), "#!/bin/sh\n").expect("written");
    folder.to_owned()
}

/// The address of the console. `None` while the banner doesn't contain it.
pub(crate) fn address(banner: &str) -> Option<SocketAddr> {
    let address = complete_lines(banner).find_map(|line| line.strip_prefix("Address"))?;
    address.trim().strip_prefix("http://")?.parse().ok()
}

/// The address of the port for probes. `None` while the banner doesn't contain it.
pub(crate) fn probes(banner: &str) -> Option<SocketAddr> {
    let line = complete_lines(banner).find_map(|line| line.strip_prefix("Probes"))?;
    line.trim().strip_prefix("http://")?.split('/').next()?.parse().ok()
}

/// The token of the banner's link for signing in. `None` if the banner contains no link.
pub(crate) fn token(banner: &str) -> Option<&str> {
    complete_lines(banner).find_map(|line| line.split_once("/login?token=")).map(|(_, token)| token)
}

/// The server may still be writing the last line.
fn complete_lines(banner: &str) -> impl Iterator<Item = &str> {
    banner.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim)
}
