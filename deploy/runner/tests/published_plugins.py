# SPDX-License-Identifier: Apache-2.0
"""Checks by hand that the published files of calico and cilium take the engine's settings, and name exactly the images of versions.json.

The files aren't part of this repository, and tests have no internet access, so the test suite doesn't run this. README.md says when to run it.
"""

import argparse
import hashlib
import subprocess
import sys
import unittest
from pathlib import Path

import test_network
from test_network import CATALOGUE, program

GIVEN = argparse.Namespace(calico=None, cilium=None, rendered=None)


def used(text):
    """The images in manifests."""
    return {line.split("image: ")[1].strip().strip('"') for line in text.splitlines() if "image: " in line}


class Published(unittest.TestCase):
    def compare(self, path, plugin):
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), CATALOGUE["plugins"][plugin]["sha256"], f"{path} is not the file of versions.json")

    def keep(self, name, text):
        if GIVEN.rendered:
            (GIVEN.rendered / name).write_text(text)


class Calico(Published, test_network.Calico):
    def test_the_manifest_takes_the_settings(self):
        self.compare(GIVEN.calico, "calico")
        published = GIVEN.calico.read_text()
        self.keep("calico.yaml", self.checked(published))
        self.assertEqual(used(published), set(CATALOGUE["plugins"]["calico"]["images"]))


class Cilium(Published, test_network.Cilium):
    def test_the_chart_takes_the_settings(self):
        self.compare(GIVEN.cilium, "cilium")
        values = self.values(cilium_mtu=1400)
        command = [program(self, "helm"), "template", "cilium", GIVEN.cilium, "--namespace=kube-system", "--kube-version=v1.34.4", f"--values={values}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.keep("cilium.yaml", done.stdout)
        self.assertEqual(used(done.stdout), set(CATALOGUE["plugins"]["cilium"]["images"]))
        for line in ('mtu: "1400"', 'tunnel-protocol: "vxlan"', 'kube-proxy-replacement: "false"', 'ipam: "kubernetes"', 'enable-hubble: "false"'):
            self.assertIn(line, done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calico", type=Path, required=True, metavar="FILE", help="the manifest calico-vxlan.yaml in the version of versions.json")
    parser.add_argument("--cilium", type=Path, required=True, metavar="FILE", help="the archive of the chart in the version of versions.json")
    parser.add_argument("--rendered", type=Path, metavar="FOLDER", help="keeps what would be applied to a cluster")
    parser.parse_args(namespace=GIVEN)
    checks = unittest.TestSuite([Calico("test_the_manifest_takes_the_settings"), Cilium("test_the_chart_takes_the_settings")])
    result = unittest.TextTestRunner().run(checks)
    # A check that was skipped hasn't passed.
    sys.exit(not result.wasSuccessful() or bool(result.skipped))


if __name__ == "__main__":
    main()
