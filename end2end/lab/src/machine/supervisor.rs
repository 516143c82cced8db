//! The supervisor: a process inside the lab that boots one machine, and boots it again after each reboot.
//!
//! When a machine reboots or powers off, the kernel ends its systemd, with SIGHUP for a reboot and SIGINT for a power-off
//! (reboot(2), process namespaces). Only the parent of a process learns which signal ended it. runc starts systemd and exits,
//! so the supervisor is a child subreaper (prctl(2)): it becomes the parent of orphaned processes below it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, set_child_subreaper, wait};

use crate::addresses::{BRIDGE, BRIDGE_NAME, hardware};
use crate::error::{Doing, Error};
use crate::layout::Layout;
use crate::machine::container;
use crate::machine::description::{Description, Folder, Power, State};
use crate::machine::disk::{self, KERNEL_PARAMETERS, KERNEL_SHARE, file_of_parameter};
use crate::{files, program};

/// Boots the machine, again after each reboot, until it powers off.
pub fn supervise(layout: &Layout, name: &str) -> Result<(), Error> {
    let folder = Folder::of(layout, name);
    let machine = folder.description()?;
    // Held until this process ends, even if it is killed.
    let _lock = folder.become_supervisor()?;
    set_child_subreaper(Some(rustix::process::getpid())).doing(|| "become a child subreaper".to_owned())?;
    let mut boots = folder.state().map_or(0, |state| state.boots);
    loop {
        boots += 1;
        folder.write_state(&State { power: Power::Booting, boots, pid: None, reason: String::new() })?;
        let end = boot(layout, &machine, &folder).and_then(|pid| {
            folder.write_state(&State { power: Power::On, boots, pid: Some(pid), reason: String::new() })?;
            ended(pid)
        });
        remove_container(layout, &machine);
        let reason = match end {
            Ok(End::Reboot) => continue,
            Ok(End::PowerOff) => "powered off".to_owned(),
            Ok(End::Other(how)) => how,
            Err(error) => error.to_string(),
        };
        eprintln!("{name}: {reason}");
        return folder.write_state(&State { power: Power::Off, boots, pid: None, reason });
    }
}

enum End {
    Reboot,
    PowerOff,
    Other(String),
}

fn runc(layout: &Layout, machine: &Description) -> Command {
    let mut command = Command::new(&machine.runc);
    command.arg("--root").arg(layout.runc_state());
    command
}

/// Boots the machine. Returns the number of its first process.
fn boot(layout: &Layout, machine: &Description, folder: &Folder) -> Result<i32, Error> {
    disk::prepare(machine, folder)?;
    let configuration = container::configuration(machine, folder, container::bounding_set()?);
    files::write(&folder.bundle().join("config.json"), 0o644, configuration.to_string())?;
    let pid_file = folder.bundle().join("pid");
    files::remove(&pid_file)?;
    create(layout, machine, folder, &pid_file)?;
    let pid: i32 = files::read(&pid_file)?
        .trim()
        .parse()
        .map_err(|_| Error::Malformed { file: pid_file, why: "it contains no process number".into() })?;
    connect(machine, folder, pid)?;
    hide_kernel_parameters(pid)?;
    program::run(runc(layout, machine).args(["start", &machine.name]))?;
    Ok(pid)
}

/// Runs `runc create`. systemd inherits this command's output as its console. It is a file, because a pipe would stay open
/// while the machine is running.
fn create(layout: &Layout, machine: &Description, folder: &Folder, pid_file: &Path) -> Result<(), Error> {
    let console = File::options().create(true).append(true).open(folder.console());
    let console = console.doing(|| format!("open {}", folder.console().display()))?;
    let errors = console.try_clone().doing(|| "copy the console's file descriptor".to_owned())?;
    let status = runc(layout, machine)
        .arg("create")
        .arg("--bundle")
        .arg(folder.bundle())
        .arg("--pid-file")
        .arg(pid_file)
        .arg(&machine.name)
        .stdin(Stdio::null())
        .stdout(console)
        .stderr(errors)
        .status()
        .doing(|| format!("start {}", machine.runc.display()))?;
    if status.success() {
        return Ok(());
    }
    let output = files::read(&folder.console()).unwrap_or_default();
    Err(Error::Program { program: format!("runc create {}", machine.name), how: status.to_string(), output })
}

/// Plugs the machine into the bridge, unless its network is cut.
fn connect(machine: &Description, folder: &Folder, pid: i32) -> Result<(), Error> {
    let (port, address) = (port(&machine.name), machine.address);
    let state = if folder.cut().exists() { "down" } else { "up" };
    let routes: String =
        machine.routes.iter().map(|(network, by)| format!("ip route replace {network} via {by}\n")).collect();
    let outside = format!(
        "ip link delete {port} 2>/dev/null || true\n\
         ip link add {port} type veth peer name eth0 address {} netns {pid}\n\
         ip link set {port} master {BRIDGE_NAME} {state}",
        hardware(address)
    );
    let inside = format!(
        "ip link set lo up\n\
         ip address add {address}/24 dev eth0\n\
         ip link set eth0 up\n\
         ip route add default via {BRIDGE}\n\
         {routes}"
    );
    program::run(Command::new("sh").args(["-ec", &outside]))?;
    program::run(Command::new("nsenter").args([&format!("--target={pid}"), "--net", "--", "sh", "-ec", &inside]))
}

/// Mounts ordinary files over [`KERNEL_PARAMETERS`].
fn hide_kernel_parameters(pid: i32) -> Result<(), Error> {
    let script: String = KERNEL_PARAMETERS
        .iter()
        .map(|(name, _)| format!("mount --bind {KERNEL_SHARE}/{} /proc/sys/{name}\n", file_of_parameter(name)))
        .collect();
    program::run(Command::new("nsenter").args([&format!("--target={pid}"), "--mount", "--", "sh", "-ec", &script]))
}

/// The name of the machine's port on the bridge.
pub(crate) fn port(name: &str) -> String {
    format!("lab-{name}")
}

/// Waits until the machine's first process ends.
fn ended(pid: i32) -> Result<End, Error> {
    let Some(pid) = Pid::from_raw(pid) else { return Ok(End::Other("no first process".into())) };
    loop {
        // This also reaps other orphaned processes.
        let found = wait(WaitOptions::empty()).doing(|| "wait for the machine's first process".to_owned())?;
        if let Some((ended, status)) = found
            && ended == pid
        {
            return Ok(end_of(status));
        }
    }
}

fn end_of(status: WaitStatus) -> End {
    match status.terminating_signal() {
        Some(signal) if signal == Signal::HUP.as_raw() => End::Reboot,
        Some(signal) if signal == Signal::INT.as_raw() => End::PowerOff,
        Some(signal) if signal == Signal::KILL.as_raw() => End::Other("the power was cut".into()),
        Some(signal) => End::Other(format!("systemd was ended by signal {signal}")),
        None => End::Other(format!("systemd ended with status {}", status.exit_status().unwrap_or_default())),
    }
}

fn remove_container(layout: &Layout, machine: &Description) {
    // Fails if the boot failed before the container was created.
    let _gone = program::run(runc(layout, machine).args(["delete", "--force", &machine.name]));
}
