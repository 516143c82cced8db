# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder: all, two modules at a time, or those named as MODULE.CLASS.TEST.

Appends each failed test as a line of JSON to the file in KUBEONKUBE_TEST_FAILED, for `cargo xtask test`.
"""

import json
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Result(unittest.TextTestResult):
    """Reports failed tests, each once."""

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def addError(self, test, err):
        super().addError(test, err)
        self.report(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(test, err)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.write(test, "it passed, but a failure was expected")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.report(test, err)

    def report(self, test, err):
        self.write(test, self._exc_info_to_string(err, test))

    def write(self, test, message):
        path = os.environ.get("KUBEONKUBE_TEST_FAILED")
        if path is None:
            return
        # `setUpClass (test_run.Stopping)`: an error before the first test of a class or module.
        name = test.id().split("(")[-1].rstrip(")")
        suite, _, case = name.partition(".")
        # The reason is at the end of a traceback, and reports are cut at theirs.
        lines = message.strip().splitlines()
        failed = {
            "suite": suite,
            "name": case,
            "seconds": time.monotonic() - getattr(self, "started", time.monotonic()),
            "message": "\n".join([lines[-1], *lines[-40:-1]]),
        }
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(failed) + "\n")


def run(names):
    sys.path.insert(0, str(HERE))
    tests = unittest.TestLoader().loadTestsFromNames(names)
    return 0 if unittest.TextTestRunner(resultclass=Result).run(tests).wasSuccessful() else 1


def run_module(name):
    """Runs a module in its own process, and prints its output at once."""
    began = time.monotonic()
    command = [sys.executable, __file__, name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{name}: {time.monotonic() - began:.0f} s\n{done.stdout}", flush=True)
    return done.returncode


def main(names):
    if names:
        return run(names)
    # The largest ones first: they take longest.
    modules = sorted(HERE.glob("test_*.py"), key=lambda module: -module.stat().st_size)
    with ThreadPoolExecutor(max_workers=2) as pool:
        return max(pool.map(run_module, [module.stem for module in modules]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
