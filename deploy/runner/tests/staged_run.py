# SPDX-License-Identifier: Apache-2.0
"""Stages a run as the product does: a folder with conf, auth, work and dev, in which the real ansible runs."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TOKEN = "5f0c8e1d2b3a49687766554433221100"
LOCAL = "{ansible_connection: local}"
# Nothing listens on port 1, so connecting to this host fails at once.
UNREACHABLE = "{ansible_host: 127.0.0.1, ansible_port: 1}"


def skip(test, missing):
    """Skips `test` and records it for the list that `cargo xtask test` prints. Where CI is set, the test fails."""
    if "CI" in os.environ:
        test.fail(f"can't be run: {missing}")
    if path := os.environ.get("KUBEONKUBE_TEST_SKIPPED"):
        with open(path, "a") as file:
            file.write(f"{test.id()}: {missing}\n")
    raise unittest.SkipTest(missing)


def ansible_bin(test):
    """The folder that contains the ansible-playbook to test."""
    folder = os.environ.get("KUBEONKUBE_TEST_ANSIBLE")
    if not folder:
        found = shutil.which("ansible-playbook")
        if not found:
            skip(test, "set KUBEONKUBE_TEST_ANSIBLE to the bin folder of a virtual environment with ansible-core")
        folder = os.path.dirname(found)
    return folder


class SmallDisk:
    """A small file system that the test fills to its last byte and frees again."""

    def __init__(self, test, mebibytes):
        self.path = Path(tempfile.mkdtemp(prefix="kubeonkube-disk-"))
        test.addCleanup(os.rmdir, self.path)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "kubeonkube-test", str(self.path)]
        mounted = subprocess.run(mount, stderr=subprocess.PIPE, text=True)
        if mounted.returncode != 0:
            skip(test, f"a small file system can't be mounted, which needs root ({mounted.stderr.strip()})")
        test.addCleanup(subprocess.run, ["umount", "-l", str(self.path)], check=True)

    def fill(self):
        with open(self.path / "filler", "ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass

    def free(self):
        os.remove(self.path / "filler")


class StagedRun:
    """`hosts` maps names to inline YAML of their variables. The run uses the ansible in `bin`, as `user` if given, else as the current user.
    Its files are in the folder `inside`, if given."""

    def __init__(self, test, hosts, user=None, bin=None, below="", inside=None):
        outer = Path(tempfile.mkdtemp(prefix="kubeonkube-run-", dir=inside))
        test.addCleanup(shutil.rmtree, outer, ignore_errors=True)
        self.root = outer / below
        self.test = test
        self.user = user
        self.bin = bin or ansible_bin(test)
        for folder in ("conf/callback", "auth", "work-kubeonkube", "dev"):
            (self.root / folder).mkdir(parents=True)
        shutil.copytree(HERE / "playbooks", self.root / "kubespray")
        for name in ("entrypoint.py", "kubeonkube_masking.py", "masking.json"):
            shutil.copy(HERE / name, self.root / "conf" / name)
        shutil.copy(HERE / "callback/kubeonkube_events.py", self.root / "conf/callback/kubeonkube_events.py")
        self.write("conf/token", TOKEN + "\n")
        self.write("conf/secrets.json", "[]")
        self.write("conf/names.json", "[]")
        self.write("conf/group_vars.yml", "# none\n")
        self.write("conf/hosts.yml", "all:\n  hosts:\n" + "".join(f"    {name}: {values}\n" for name, values in hosts.items()))
        self.steps = []

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def builtin(self, name, role="main", args=()):
        return self.add(role, "playbook", "kubespray/" + name, name, args)

    def playbook(self, text, role="main", args=()):
        path = f"conf/sources/{len(self.steps)}/play.yml"
        self.write(path, text)
        return self.add(role, "playbook", path, "play.yml", args)

    def script(self, text, role="main", args=()):
        path = f"conf/scripts/{len(self.steps)}.sh"
        self.write(path, text)
        return self.add(role, "shell", path, f"script {len(self.steps)}", args)

    def add(self, role, kind, path, title, args):
        self.steps.append({"role": role, "kind": kind, "path": path, "title": title, "args": list(args)})
        return self

    def start(self, keep_steps=False):
        return self.prepare(keep_steps).launch()

    def prepare(self, keep_steps=False):
        """Writes what is left of the run's files."""
        if not keep_steps:
            self.write("conf/steps.json", json.dumps({"operation": "op", "cluster": "c", "steps": self.steps}))
        if self.user is not None:
            for path in [self.root, *self.root.rglob("*")]:
                os.chown(path, self.user, self.user)
        return self

    def launch(self):
        environment = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LANG": "C.UTF-8",
            "CLUSTER_NAME": "c",
            "KUBEONKUBE_OPERATION": "op",
            "KUBEONKUBE_ROOT": str(self.root),
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true",
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        }
        identity = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        self.process = subprocess.Popen(
            [shutil.which("python3", path=environment["PATH"]) or sys.executable, str(self.root / "conf/entrypoint.py")],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", **identity)
        self.test.addCleanup(self.process.stdout.close)
        self.output = b""
        return self

    def wait_for(self, seen, seconds=300):
        """Reads output until `seen(self)` is true."""
        deadline = time.monotonic() + seconds
        while not seen(self):
            if time.monotonic() > deadline:
                raise AssertionError("never seen in:\n" + self.output.decode("utf-8", "replace"))
            if not select.select([self.process.stdout], [], [], 0.05)[0]:
                continue
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise AssertionError("the run ended first:\n" + self.output.decode("utf-8", "replace"))
            self.output += chunk
        return self

    def finish(self):
        rest, _ = self.process.communicate(timeout=280)
        self.output += rest
        return self

    def run(self):
        return self.start().finish()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def is_over(self):
        return self.process.poll() is not None

    # -- its output ----------------------------------------------------------------------------------------------------

    @property
    def rc(self):
        return self.process.returncode

    @property
    def events(self):
        mark = b"\x1e" + TOKEN.encode() + b" "
        return [json.loads(line[len(mark):]) for line in self.output.split(b"\n")[:-1] if line.startswith(mark)]

    @property
    def text(self):
        mark = b"\x1e" + TOKEN.encode() + b" "
        return b"\n".join(line for line in self.output.split(b"\n") if not line.startswith(mark)).decode("utf-8", "replace")

    def of(self, kind, **fields):
        return [e for e in self.events if e["type"] == kind and all(e.get(key) == value for key, value in fields.items())]

    @property
    def kinds(self):
        return [event["type"] for event in self.events]

    @property
    def termination_bytes(self):
        return (self.root / "dev/termination-log").read_bytes()

    @property
    def termination(self):
        return json.loads(self.termination_bytes)
