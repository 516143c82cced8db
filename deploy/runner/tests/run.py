# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder: all, or those named as MODULE.CLASS.TEST.

Appends each failed test as a line of JSON to the file in KUBEONKUBE_TEST_FAILED, for `cargo xtask test`.
"""

import json
import os
import sys
import time
import unittest
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


def main(names):
    sys.path.insert(0, str(HERE))
    loader = unittest.TestLoader()
    tests = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE), top_level_dir=str(HERE))
    return 0 if unittest.TextTestRunner(resultclass=Result).run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
