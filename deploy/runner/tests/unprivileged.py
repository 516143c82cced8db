# SPDX-License-Identifier: Apache-2.0
"""Runs without privileges, even if root runs the tests: as a user who owns no files, with an ansible that this user may run."""

import os
import shutil
import subprocess
import tempfile
import unittest
from functools import cache
from pathlib import Path

from staged_run import StagedRun, ansible_bin, skip

NOBODY = 65534


def unprivileged_run(test, hosts):
    """A staged run as the current user, or as NOBODY if that is root."""
    bin = ansible_bin(test)
    if os.getuid() != 0:
        return StagedRun(test, hosts)
    # The virtual environment links to the interpreter that created it.
    interpreter = Path(bin, "python3").resolve()
    if not runs(interpreter, ""):
        skip(test, f"user {NOBODY} can't run {interpreter}")
    return StagedRun(test, hosts, user=NOBODY, bin=reachable_for_nobody(bin))


def runs(python, program):
    """Whether NOBODY can run `program` with `python`."""
    try:
        done = subprocess.run([python, "-c", program], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True)
    except PermissionError:
        return False
    return done.returncode == 0


@cache
def reachable_for_nobody(bin):
    """The same ansible, or a copy of it if the original is below a folder that only root may enter, such as /root."""
    if runs(Path(bin, "python3"), "import ansible") or not Path(bin, "../pyvenv.cfg").exists():
        return bin
    folder = Path(tempfile.mkdtemp(prefix="kubeonkube-ansible-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "venv"
    shutil.copytree(Path(bin).parent, copy, symlinks=True)
    for script in (copy / "bin").iterdir():
        if script.is_file() and not script.is_symlink():
            script.write_bytes(script.read_bytes().replace(os.fsencode(bin), os.fsencode(copy / "bin")))
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    return str(copy / "bin")
