# SPDX-License-Identifier: Apache-2.0
"""The builtin playbooks on this machine: locally without privileges, and over a real sshd."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from staged_run import LOCAL, StagedRun, ansible_bin, skip
from unprivileged import unprivileged_run

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def serve(listener, command):
    """Starts `command` for each connection, until the listener is shut down. Waits then for the programs."""
    programs = []
    with listener:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                break
            with connection:
                programs.append(subprocess.Popen(command, stdin=connection, stdout=connection, stderr=subprocess.DEVNULL))
    for program in programs:
        program.terminate()
        program.wait()


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

    def clock_skew(self, date):
        """The skew that facts.yml reports if the machine's `date` is this script."""
        folder = Path(tempfile.mkdtemp(prefix="kubeonkube-date-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "date").write_text(f"#!/bin/sh\n{date}\n")
        (folder / "date").chmod(0o755)
        run = StagedRun(self, {"m1": LOCAL}, bin=f"{folder}:{ansible_bin(self)}").builtin("facts.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        return run.of("outcome")[0]["value"]["m1"]["clock_skew_seconds"]

    def test_a_slow_measurement_is_no_clock_skew(self):
        self.assertEqual(self.clock_skew("sleep 4; exec /bin/date \"$@\""), 0)

    def test_a_wrong_clock_is_reported_in_both_directions(self):
        for hour in (3600, -3600):
            self.assertAlmostEqual(self.clock_skew(f"echo $(( $(/bin/date +%s) + {hour} ))"), hour, delta=60)

    def test_a_machine_without_date_has_an_unknown_skew(self):
        self.assertIsNone(self.clock_skew("exit 127"))

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
        for name in ("host", "other", "jump", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", cls.folder / name], check=True)
        shutil.copy(cls.folder / "user.pub", cls.folder / "authorized_keys")
        cls.port, cls.jump = cls.start_sshd("host"), cls.start_sshd("jump")

    @classmethod
    def start_sshd(cls, name):
        """The port of a server with the host key `name`. It writes its log to NAME.log.

        This process listens, as inetd does: sshd can't choose a free port itself, and another program could take one before sshd does."""
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        options = {"HostKey": cls.folder / name, "PidFile": "none", "UsePAM": "no",
                   "AuthorizedKeysFile": cls.folder / "authorized_keys", "StrictModes": "no", "PermitRootLogin": "prohibit-password",
                   "Subsystem": "sftp internal-sftp"}
        (cls.folder / f"{name}.config").write_text("".join(f"{key} {value}\n" for key, value in options.items()))
        (cls.folder / f"{name}.log").touch()
        listener = socket.create_server(("127.0.0.1", 0))
        command = [SSHD, "-i", "-E", cls.folder / f"{name}.log", "-f", cls.folder / f"{name}.config"]
        servers = threading.Thread(target=serve, args=(listener, command))
        servers.start()
        cls.addClassCleanup(lambda: (listener.shutdown(socket.SHUT_RDWR), servers.join()))
        return listener.getsockname()[1]

    def setUp(self):
        if self.missing:
            skip(self, f"{' and '.join(self.missing)} is missing")

    def staged(self, known=None, below="", more="", also_known=()):
        # An absolute path: in a login shell, PATH may begin with a version manager's shims that don't work.
        python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
        variables = f"ansible_port: {self.port}, ansible_user: {getpass.getuser()}, ansible_python_interpreter: {python}{more}"
        run = StagedRun(self, {"m1": f"{{ansible_host: 127.0.0.1, {variables}}}"}, below=below)
        shutil.copy(self.folder / "user", run.root / "auth/ssh-privatekey")
        if known:
            keys = [(self.port, known), *also_known]
            lines = [f"[127.0.0.1]:{port} " + (self.folder / f"{name}.pub").read_text() for port, name in keys]
            run.write("conf/known_hosts", "".join(lines))
        return run

    def staged_behind_a_jump_host(self, **more):
        user = getpass.getuser()
        return self.staged(more=f", ansible_ssh_common_args: -o ProxyJump={user}@127.0.0.1:{self.jump}", **more)

    def logins_at_the_jump_host(self):
        return (self.folder / "jump.log").read_text().count("Accepted publickey")

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
                    # The stop must close the connection. Without it, ssh would close the connection after 60 s (ControlPersist).
                    deadline = time.monotonic() + 45
                    while is_connected(self.port):
                        self.assertLess(time.monotonic(), deadline, "the connection is still open")

    def test_a_jump_host_is_reached_with_the_key_and_host_keys_of_the_cluster(self):
        for below in ("", "my runs/" + "d" * 100):
            with self.subTest(below=below):
                before = self.logins_at_the_jump_host()
                run = self.staged_behind_a_jump_host(known="host", also_known=[(self.jump, "jump")], below=below).builtin("ping.yml").run()
                self.assertEqual(run.rc, 0, run.text)
                self.assertEqual(self.logins_at_the_jump_host(), before + 1)

    def test_a_jump_host_with_an_unconfirmed_key_is_refused(self):
        before = self.logins_at_the_jump_host()
        for keys in ([], [(self.jump, "other")]):
            run = self.staged_behind_a_jump_host(known="host", also_known=keys).builtin("ping.yml").run()
            self.assertNotEqual(run.rc, 0, run.text)
        self.assertEqual(self.logins_at_the_jump_host(), before)

    def test_without_known_hosts_a_jump_host_is_trusted_at_first(self):
        run = self.staged_behind_a_jump_host().builtin("ping.yml").run()
        self.assertEqual(run.rc, 0, run.text)
        known = (run.root / "work-kubeonkube/known_hosts").read_text()
        for name in ("host", "jump"):
            self.assertIn((self.folder / f"{name}.pub").read_text().split()[1], known)

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
