//! Writes systemd units to the disk of a machine.

use std::path::Path;

use crate::error::Error;
use crate::files;

/// A systemd service that starts at boot, and restarts when it ends unless `once` is set.
pub(crate) struct Unit<'a> {
    pub(crate) name: &'a str,
    /// Units that are started before it.
    pub(crate) after: &'a str,
    /// Shell commands that run before it, in order.
    pub(crate) before: &'a [String],
    /// The program and its arguments, without spaces.
    pub(crate) command: Vec<String>,
    /// It runs once and isn't restarted.
    pub(crate) once: bool,
}

impl Unit<'_> {
    /// Writes the unit into a machine's `/etc` and enables it.
    pub(crate) fn install(&self, etc: &Path) -> Result<(), Error> {
        let system = etc.join("systemd/system");
        let file = format!("{}.service", self.name);
        files::write(&system.join(&file), 0o644, self.text())?;
        files::link(format!("/etc/systemd/system/{file}"), &system.join("multi-user.target.wants").join(file))
    }

    fn text(&self) -> String {
        let mut text =
            format!("[Unit]\nDescription={}\nAfter={}\nStartLimitIntervalSec=0\n\n[Service]\n", self.name, self.after);
        for line in self.before {
            text += &format!("ExecStartPre=/bin/sh -c '{line}'\n");
        }
        text += &format!("ExecStart={}\n", self.command.join(" \\\n  "));
        text += if self.once {
            "Type=oneshot\nRemainAfterExit=yes\n"
        } else {
            // Delegate: containerd and kubelet create cgroups below their own. KillMode: a restart must not kill containers.
            "Restart=always\nRestartSec=500ms\nDelegate=yes\nKillMode=process\nTimeoutStartSec=180\n"
        };
        text + "\n[Install]\nWantedBy=multi-user.target\n"
    }
}

/// A shell command that waits until the API server is ready. A component that starts earlier exits and is restarted, which
/// takes longer.
pub(crate) fn api_server_is_ready() -> String {
    format!("until curl -skf -m 2 https://{}/readyz >/dev/null; do sleep 0.2; done", crate::addresses::api_server())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_started_at_boot_and_again_when_it_ends() {
        let etc = tempfile::tempdir().unwrap();
        let command = vec!["/opt/etcd".to_owned(), "--quiet".to_owned()];
        Unit { name: "etcd", after: "network.target", before: &[], command, once: false }.install(etc.path()).unwrap();
        let wants = etc.path().join("systemd/system/multi-user.target.wants/etcd.service");
        assert!(wants.is_symlink());
        let text = files::read(&etc.path().join("systemd/system/etcd.service")).unwrap();
        assert!(text.contains("ExecStart=/opt/etcd \\\n  --quiet\n") && text.contains("Restart=always"), "{text}");
    }
}
