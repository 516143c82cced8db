# SPDX-License-Identifier: Apache-2.0
"""The builtin playbooks on this machine: directly, without any privilege, and over a real sshd."""

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
    """Whether anybody has a connection to or from this port: state 01 in proc_net_tcp(5)."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(fields[3] == "01" and f":{port:04X}" in (fields[1][-5:], fields[2][-5:]) for fields in lines)


class Locally(unittest.TestCase):
    def test_ping_needs_no_root_and_no_sudo_whatever_the_inventory_says(self):
        run = unprivileged_run(self, {"m1": "{ansible_connection: local, ansible_become: true, ansible_become_method: sudo}"})
        run.builtin("ping.yml").script("id -u", "post").run()
        self.assertEqual((run.rc, run.termination["steps"][0]["recap"]["ok"]), (0, 1), run.text)
        self.assertNotIn("0", run.text.splitlines(), "it ran as root")

    def test_facts_need_no_root_and_tell_people_and_programs_the_same(self):
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

    def test_facts_of_the_others_are_published_when_a_machine_is_gone(self):
        run = StagedRun(self, {"m1": LOCAL, "gone": "{ansible_host: 127.0.0.1, ansible_port: 1}"}).builtin("facts.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertEqual(list(run.of("outcome")[0]["value"]), ["m1"])


class OverSsh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lacks = [name for name, found in (("sshd", SSHD), ("ssh-keygen", shutil.which("ssh-keygen"))) if not found]
        if cls.lacks:
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
        if self.lacks:
            skip(self, f"{' and '.join(self.lacks)} is missing")

    def staged(self, known=None, below=""):
        # Named, because a login shell may put broken shims of a version manager first.
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

    def test_a_data_directory_with_blanks_and_a_long_name_does_no_harm(self):
        # Sockets have room for 108 bytes of path.
        run = self.staged("host", below="my runs/" + "d" * 100).builtin("ping.yml").run()
        self.assertEqual(run.rc, 0, run.text)

    def test_who_has_run_is_logged_in_no_longer(self):
        for below in ("", "my runs/" + "d" * 100):
            for ends in ("by itself", "because it is stopped"):
                with self.subTest(below=below, ends=ends):
                    run = self.staged("host", below=below).builtin("ping.yml", "pre")
                    if ends == "by itself":
                        run.run()
                    else:
                        run.script("echo waiting; exec sleep 600").start().wait_for(lambda run: "waiting" in run.text.splitlines())
                        self.assertTrue(is_connected(self.port), "ssh keeps no connection for the next step")
                        run.stop()
                    # Long before ssh would end it: ControlPersist is 60 s.
                    deadline = time.monotonic() + 20
                    while is_connected(self.port):
                        self.assertLess(time.monotonic(), deadline, "the connection stays")

    def test_a_host_key_that_was_not_confirmed_is_refused(self):
        run = self.staged("other").builtin("ping.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertIn("is not the confirmed one", run.termination["failures"][0]["message"])

    def test_a_machine_without_a_confirmed_host_key_is_refused_where_others_have_one(self):
        run = self.staged()
        run.write("conf/known_hosts", "")
        run.builtin("ping.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertIn("has not been confirmed", run.termination["failures"][0]["message"])

    def test_without_confirmed_keys_the_first_one_seen_counts(self):
        run = self.staged().builtin("ping.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertIn("ssh-ed25519", (run.root / "work-kubeonkube/known_hosts").read_text())


if __name__ == "__main__":
    unittest.main()
