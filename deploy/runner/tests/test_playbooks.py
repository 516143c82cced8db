# SPDX-License-Identifier: Apache-2.0
"""The builtin playbooks on this machine: locally without privileges, and over a real sshd."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from staged_run import LOCAL, StagedRun, skip
from unprivileged import unprivileged_run

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_connected(port):
    """Whether a connection to or from this port is established: state 01 in proc_net_tcp(5)."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(fields[3] == "01" and f":{port:04X}" in (fields[1][-5:], fields[2][-5:]) for fields in lines)


class Locally(unittest.TestCase):
    def test_ping_needs_no_privileges_for_any_inventory(self):
        run = unprivileged_run(self, {"m1": "{ansible_connection: local, ansible_become: true, ansible_become_method: sudo}"})
        run.builtin("ping.yml").script("id -u", "post").run()
        self.assertEqual((run.rc, run.termination["steps"][0]["recap"]["ok"]), (0, 1), run.text)
        self.assertNotIn("0", run.text.splitlines(), "it ran as root")

    def test_facts_need_no_privileges_and_match_the_log(self):
        run = unprivileged_run(self, {"m1": LOCAL}).builtin("facts.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        [outcome] = run.of("outcome")
        self.assertEqual(outcome["key"], "facts")
        machine = outcome["value"]["m1"]
        self.assertEqual(machine["kernel"], os.uname().release)
        self.assertEqual(machine["arch"], os.uname().machine)
        self.assertEqual(machine["clock_skew_seconds"], 0)
        self.assertTrue(machine["cpus"] > 0 and machine["memory_mb"] > 0 and isinstance(machine["ips"], list), machine)
        self.assertIn(f"Memory: {machine['memory_mb']} MB", run.text)
        self.assertIn(machine["os"], run.text)
        self.assertTrue(all(event["result"] == "ok" for event in run.of("host_result")))

    def test_facts_are_published_although_one_machine_is_unreachable(self):
        run = StagedRun(self, {"m1": LOCAL, "gone": "{ansible_host: 127.0.0.1, ansible_port: 1}"}).builtin("facts.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertEqual(list(run.of("outcome")[0]["value"]), ["m1"])


class OverSsh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.missing = [name for name, found in (("sshd", SSHD), ("ssh-keygen", shutil.which("ssh-keygen"))) if not found]
        if cls.missing:
            return
        cls.folder = Path(tempfile.mkdtemp(prefix="kubeonkube-sshd-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name in ("host", "other", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", cls.folder / name], check=True)
        shutil.copy(cls.folder / "user.pub", cls.folder / "authorized_keys")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        options = {"ListenAddress": "127.0.0.1", "Port": cls.port, "HostKey": cls.folder / "host", "PidFile": "none", "UsePAM": "no",
                   "AuthorizedKeysFile": cls.folder / "authorized_keys", "StrictModes": "no", "PermitRootLogin": "prohibit-password",
                   "Subsystem": "sftp internal-sftp"}
        (cls.folder / "config").write_text("".join(f"{key} {value}\n" for key, value in options.items()))
        cls.sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", cls.folder / "config"], stderr=subprocess.DEVNULL)
        cls.addClassCleanup(lambda: (cls.sshd.terminate(), cls.sshd.wait()))
        deadline = time.monotonic() + 20
        while not listens(cls.port):
            assert cls.sshd.poll() is None and time.monotonic() < deadline, "sshd doesn't listen"

    def setUp(self):
        if self.missing:
            skip(self, f"{' and '.join(self.missing)} is missing")

    def staged(self, known=None, below=""):
        # Named, because in a login shell a version manager's broken shims may come first in PATH.
        python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
        variables = f"ansible_port: {self.port}, ansible_user: {getpass.getuser()}, ansible_python_interpreter: {python}"
        run = StagedRun(self, {"m1": f"{{ansible_host: 127.0.0.1, {variables}}}"}, below=below)
        shutil.copy(self.folder / "user", run.root / "auth/ssh-privatekey")
        if known:
            kind, key = (self.folder / f"{known}.pub").read_text().split()[:2]
            run.write("conf/known_hosts", f"[127.0.0.1]:{self.port} {kind} {key}\n")
        return run

    def test_ping_and_facts_run_over_ssh_with_a_confirmed_host_key(self):
        run = self.staged("host").builtin("ping.yml", "pre").builtin("facts.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertEqual(run.of("outcome")[0]["value"]["m1"]["kernel"], os.uname().release)

    def test_a_long_data_directory_with_blanks_works(self):
        # The path of a Unix socket has at most 108 bytes.
        run = self.staged("host", below="my runs/" + "d" * 100).builtin("ping.yml").run()
        self.assertEqual(run.rc, 0, run.text)

    def test_ssh_connections_are_closed_after_a_run(self):
        for below in ("", "my runs/" + "d" * 100):
            for ends in ("by itself", "by a stop"):
                with self.subTest(below=below, ends=ends):
                    run = self.staged("host", below=below).builtin("ping.yml", "pre")
                    if ends == "by itself":
                        run.run()
                    else:
                        run.script("echo waiting; exec sleep 600").start().wait_for(lambda run: "waiting" in run.text.splitlines())
                        self.assertTrue(is_connected(self.port), "ssh should keep its connection for the next step")
                        run.stop()
                    # Well before ssh closes it by itself: ControlPersist is 60 s.
                    deadline = time.monotonic() + 20
                    while is_connected(self.port):
                        self.assertLess(time.monotonic(), deadline, "the connection is still open")

    def test_an_unconfirmed_host_key_is_refused(self):
        run = self.staged("other").builtin("ping.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertIn("is not the confirmed one", run.termination["failures"][0]["message"])

    def test_with_known_hosts_an_unlisted_machine_is_refused(self):
        run = self.staged()
        run.write("conf/known_hosts", "")
        run.builtin("ping.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertIn("has not been confirmed", run.termination["failures"][0]["message"])

    def test_without_known_hosts_the_first_key_seen_is_trusted(self):
        run = self.staged().builtin("ping.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertIn("ssh-ed25519", (run.root / "work-kubeonkube/known_hosts").read_text())


if __name__ == "__main__":
    unittest.main()
