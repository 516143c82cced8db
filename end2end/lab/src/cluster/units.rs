//! systemd units, written where a machine finds them at its boot.

use std::path::Path;

use crate::{error::Error, files};

/// A unit that is started at boot and again whenever it ends.
pub(crate) struct Unit<'a> {
    pub(crate) name: &'a str,
    /// Units that are started before it.
    pub(crate) after: &'a str,
    /// Shell lines that come before it, in order.
    pub(crate) before: &'a [String],
    /// The program and its arguments; each on its own, none with spaces.
    pub(crate) command: Vec<String>,
    /// It ends by itself, once.
    pub(crate) once: bool,
}

impl Unit<'_> {
    /// Writes it into the `/etc` of a machine.
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
            // containerd and kubelet make cgroups of their own, and hold many files.
            "Restart=always\nRestartSec=500ms\nDelegate=yes\nKillMode=process\nTimeoutStartSec=180\n"
        };
        text + "\n[Install]\nWantedBy=multi-user.target\n"
    }
}

/// A shell line that ends when the API server says it is ready. Whoever starts earlier gives up and starts again,
/// which takes longer.
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
