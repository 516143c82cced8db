# SPDX-License-Identifier: Apache-2.0
"""containerd and runc on machines: where they come from, when they are installed, and that a reset gives back what was there."""

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

from test_engine import ROLES
from test_network import CATALOGUE, Rendered
from test_proxy import Served

CONTAINERD, RUNC = (CATALOGUE[name]["version"] for name in ("containerd", "runc"))
PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "runc")


def machine(state="fresh", containerd="", runc="", ours=False, programs=PROGRAMS):
    """What the module machine_state says of a machine."""
    return {"architecture": "amd64", "state": state, "network": "192.0.2.0/24", "versions": {"containerd": containerd, "runc": runc}, "containerd_ours": ours,
            "runtime_programs": [*programs] if containerd else []}


class Files(Rendered):
    def rendered_with_folder(self, template):
        """With a folder of programs that is not the default."""
        return self.rendered("containerd", template, bin_dir="/opt/bin", containerd_pause_image="registry.example/pause:3.10", containerd_cni_programs="/usr/lib/cni").read_text()

    def test_containerd_runs_the_runc_of_the_engine(self):
        config = tomllib.loads(self.rendered_with_folder("config.toml.j2"))
        runtime = config["plugins"]["io.containerd.cri.v1.runtime"]
        self.assertEqual(runtime["containerd"]["runtimes"]["runc"]["options"], {"BinaryName": "/opt/bin/runc", "SystemdCgroup": True})
        self.assertEqual(runtime["cni"]["bin_dirs"], ["/usr/lib/cni"])
        self.assertEqual(config["plugins"]["io.containerd.cri.v1.images"]["pinned_images"], {"sandbox": "registry.example/pause:3.10"})

    def test_containerd_finds_its_own_shim_first(self):
        self.assertIn("\nEnvironment=PATH=/opt/bin:", self.rendered_with_folder("containerd.service.j2"))


class States(Served):
    def test_what_each_machine_gets(self):
        new = {"containerd": f"v{CONTAINERD}", "runc": RUNC, "ours": True}
        older = {"containerd": "v2.0.0", "runc": "1.3.0", "ours": True}
        # Name: machine, whether it is upgraded, whether it gets a new runtime, and whether its service and configuration are the engine's.
        cases = {
            "fresh": (machine(), False, True, True),
            "fresh, with the same containerd of its own": (machine(**{**new, "ours": False}), False, True, True),
            "repeated": (machine(**new), False, False, True),
            "interrupted while the programs were installed": (machine(**{**new, "programs": PROGRAMS[:2]}), False, True, True),
            "node": (machine("member", **new), False, False, True),
            "node with an older runtime": (machine("member", **older), False, False, True),
            "node with an older runtime, upgraded": (machine("member", **older), True, True, True),
            "node, upgraded again": (machine("member", **new), True, False, True),
            "node of an earlier engine": (machine("member"), False, False, False),
            "node of an earlier engine, upgraded": (machine("member"), True, True, True),
            "node of an earlier engine with a containerd of its own": (machine("member", containerd="v2.0.0", runc="1.3.0"), False, False, False),
            "upgrade that was interrupted before the programs": (machine("member", ours=True), False, False, False),
        }
        tasks = [{"name": "Load the role", "ansible.builtin.import_role": {"name": "containerd", "tasks_from": "images"}, "when": False}]
        for name, (found, upgrades, due, ours) in cases.items():
            said = {"assert": {"that": [f"(containerd_is_due | bool) == {due}", f"(containerd_is_ours | bool) == {ours}"]}, "name": name}
            tasks.append({**said, "vars": {"cluster_catalogue": CATALOGUE, "machine": found, "containerd_upgrades": upgrades}})
        code, said = self.play(tasks)
        self.assertEqual(code, 0, said)


class Scripts(unittest.TestCase):
    """The scripts that keep and restore files, with an /etc and a systemctl of the test."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kubeonkube-runtime-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("records", "bin", "etc/containerd", "etc/systemd/system", "fake"):
            (self.folder / name).mkdir(parents=True)
        self.config, self.unit = self.folder / "etc/containerd/config.toml", self.folder / "etc/systemd/system/containerd.service"
        systemctl = self.folder / "fake/systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$*" >> {self.folder}/called\n[ ! -e {self.folder}/"$1.fails" ]\n')
        systemctl.chmod(0o755)

    def run_script(self, path, *more):
        command = ["sh", ROLES / path, self.folder / "records", self.folder / "bin", self.folder / "etc", *more]
        return subprocess.run(command, env={"PATH": f"{self.folder}/fake:/usr/bin:/bin"}, check=False).returncode

    def keep(self):
        self.assertEqual(self.run_script("containerd/files/keep-containerd.sh"), 0)

    def restore(self, was_active="False"):
        return self.run_script("reset/files/restore-containerd.sh", was_active, was_active)

    def install(self):
        for name in PROGRAMS:
            (self.folder / "bin" / name).write_text("the engine's")
        self.config.write_text("the engine's")
        self.unit.write_text("the engine's")

    def programs(self):
        return {path.name: path.read_text() for path in (self.folder / "bin").iterdir()}

    def test_a_machine_without_containerd_is_left_without(self):
        self.keep()
        self.install()
        self.assertEqual(self.restore(), 0)
        self.assertEqual(self.programs(), {})
        self.assertFalse(self.unit.exists() or self.config.parent.exists())

    def test_what_was_there_is_given_back_also_by_a_second_run(self):
        (self.folder / "bin/containerd").write_text("theirs")
        self.config.write_text("theirs")
        self.unit.write_text("theirs")
        self.keep()
        self.install()
        self.keep()
        (self.folder / "start.fails").touch()
        self.assertNotEqual(self.restore("True"), 0)
        (self.folder / "start.fails").unlink()
        self.assertEqual(self.restore("True"), 0)
        self.assertEqual(self.programs(), {"containerd": "theirs"})
        self.assertEqual((self.unit.read_text(), self.config.read_text()), ("theirs", "theirs"))
        self.assertEqual((self.folder / "called").read_text().splitlines()[-1], "start containerd")

    def test_a_masked_service_stays_masked(self):
        self.unit.symlink_to("/dev/null")
        self.keep()
        self.unit.unlink()
        self.install()
        self.assertEqual(self.restore(), 0)
        self.assertEqual(os.readlink(self.unit), "/dev/null")

    def test_the_configuration_of_an_earlier_engine_is_not_kept(self):
        ours = (ROLES / "containerd/templates/config.toml.j2").read_text()
        self.config.write_text(ours)
        self.keep()
        self.install()
        self.assertEqual(self.restore(), 0)
        self.assertFalse(self.config.exists())

    def test_the_configuration_that_an_earlier_engine_kept_is_given_back(self):
        (self.folder / "records/containerd.before.toml").write_text("theirs")
        self.config.write_text("of an earlier engine")
        self.keep()
        self.install()
        self.assertEqual(self.restore() or self.restore(), 0)
        self.assertEqual(self.config.read_text(), "theirs")

    def test_a_node_of_an_earlier_engine_keeps_its_service_and_programs(self):
        (self.folder / "records/containerd.before.toml").write_text("theirs")
        self.install()
        self.assertEqual(self.restore() or self.restore(), 0)
        self.assertEqual(set(self.programs()), set(PROGRAMS))
        self.assertEqual((self.unit.read_text(), self.config.read_text()), ("the engine's", "theirs"))


class Runtime(Served):
    """The role `containerd` downloads from a server that plays GitHub, or is the folder of files_repo."""

    ARCHIVE = f"v{CONTAINERD}/containerd-static-{CONTAINERD}-linux-amd64.tar.gz"

    def serve(self, name, content):
        path = self.folder / "served" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        path.with_name(path.name + ".sha256").write_text(hashlib.sha256(content).hexdigest())

    def serve_files_repo(self):
        """Archives have more programs than machines get."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            for name in ("bin/containerd", "bin/containerd-shim-runc-v2", "bin/containerd-stress", "bin/ctr"):
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(name), 0o755
                tar.addfile(member, io.BytesIO(name.encode()))
        self.serve(f"containerd/{self.ARCHIVE}", archive.getvalue())
        self.serve(f"runc/v{RUNC}/runc.amd64", b"runc")

    def install(self, **variables):
        tasks = [{"name": "Install", "ansible.builtin.include_role": {"name": "containerd", "tasks_from": "install"}}]
        return self.play(tasks, **{"machine": machine(), **variables})

    def installed(self):
        return sorted(path.name for path in (self.folder / "bin").iterdir())

    def test_the_programs_come_from_files_repo(self):
        self.serve_files_repo()
        code, said = self.install(files_repo=self.url)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.installed(), ["containerd", "containerd-shim-runc-v2", "ctr", "runc"])
        self.assertTrue(all(os.access(path, os.X_OK) for path in (self.folder / "bin").iterdir()))
        self.assertEqual([*self.folder.glob("*.tar.gz"), *self.folder.glob("runc-*")], [])

    def test_published_files_must_have_the_checksums_of_the_catalogue(self):
        self.serve(f"containerd/containerd/releases/download/{self.ARCHIVE}", b"changed")
        code, said = self.install(github_url=self.url)
        self.assertNotEqual(code, 0)
        self.assertIn("checksum", said)
        self.assertEqual(self.installed(), [])

    def test_a_folder_without_them_is_explained(self):
        code, said = self.install(files_repo=self.url)
        self.assertNotEqual(code, 0)
        self.assertIn(f"{self.url}/containerd/{self.ARCHIVE}.sha256 can't be downloaded: HTTP Error 404: File not found. Write the folder of files_repo again", said)



if __name__ == "__main__":
    unittest.main()
