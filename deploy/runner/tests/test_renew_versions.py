# SPDX-License-Identifier: Apache-2.0
"""renew_versions.py, with a server on this machine that plays the publishers."""

import copy
import datetime
import hashlib
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from staged_run import ansible_bin

SCRIPT = Path(__file__).parent.parent / "renew_versions.py"
FILE = Path(__file__).parent.parent / "playbooks/versions.json"
CATALOGUE = json.loads(FILE.read_text())
# kubeadm as a script. It says which etcd its version has.
KUBEADM = "#!/bin/sh\n[ \"$*\" = 'config images list --kubernetes-version=v{version}' ] || exit 1\nprintf 'example/%s\\n' etcd:{etcd} coredns/coredns:v1.14.9 pause:3.11\n"
SCHEDULE = """---
schedules:
- release: {minor}
  releaseDate: {released}
  endOfLifeDate: "2999-12-28"
"""


class Publishers:
    """A folder that a server serves. Addresses in `redirects` lead elsewhere."""

    def __init__(self, test):
        self.folder = Path(tempfile.mkdtemp(prefix="kubeonkube-publishers-"))
        test.addCleanup(shutil.rmtree, self.folder)
        redirects = self.redirects = {}

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path not in redirects:
                    return super().do_GET()
                self.send_response(302)
                self.send_header("location", redirects[self.path])
                self.send_header("content-length", "0")
                return self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Handler(*given, directory=self.folder))
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def put(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def put_kubernetes(self, version, etcd):
        kubeadm = KUBEADM.format(version=version, etcd=etcd)
        for processor in ("amd64", "arm64"):
            for program in ("kubeadm", "kubelet", "kubectl"):
                content = kubeadm if program == "kubeadm" else f"{program} {version} {processor}"
                base = f"release/v{version}/bin/linux/{processor}/{program}"
                self.put(base, content)
                self.put(f"{base}.sha256", hashlib.sha256(content.encode()).hexdigest())

    def put_sums(self, path, *names):
        """A list of checksums: of 1s for the first file, of 2s for the second one."""
        self.put(path, "".join(f"{str(number) * 64}  {name}\n" for number, name in enumerate(names, 1)))

    def put_latest(self, project, version):
        self.redirects[f"/{project}/releases/latest"] = f"/{project}/releases/tag/{version}"
        self.put(f"{project}/releases/tag/{version}", "a page")


class Renewal(unittest.TestCase):
    """The catalogue has two minor versions, so that a test reads few files: an old one and one that the schedule lists."""

    def setUp(self):
        self.publishers = Publishers(self)
        self.python = Path(ansible_bin(self)) / "python3"
        self.catalogue = copy.deepcopy(CATALOGUE)
        self.engine = self.catalogue["kubeonkube"]
        self.engine.update(default="1.36.4", programs={}, minors=[
            {"minor": "1.30", "run": None, "newest": "1.30.1", "released": "2024-04-17", "end_of_support": "2025-06-28", "components": {"of": "1.30.0", "etcd": "3.5.12-0", "coredns": "v1.11.1", "pause": "3.9"}},
            {"minor": "1.36", "run": "1.36.4", "newest": "1.36.4", "released": "2000-01-01", "end_of_support": "2000-02-02",
             "components": {"of": "1.36.4", "etcd": "3.6.11-0", "coredns": "v1.0.0", "pause": "3.0"}},
        ])
        self.catalogue["as_of"] = "2000-01-01"
        self.put_all()

    def put_all(self):
        put = self.publishers.put
        put("kubernetes/website/raw/main/data/releases/schedule.yaml", SCHEDULE.format(minor="1.36", released="2026-04-22"))
        put("release/stable-1.30.txt", "v1.30.14")
        put("release/stable-1.36.txt", "v1.36.5\n")
        self.publishers.put_kubernetes("1.36.4", etcd="3.6.8-0")
        self.publishers.put_kubernetes("1.36.5", etcd="3.6.8-0")
        containerd, runc, helm = (self.engine[name]["version"] for name in ("containerd", "runc", "helm"))
        for processor in ("amd64", "arm64"):
            archive = f"containerd-static-{containerd}-linux-{processor}.tar.gz"
            self.publishers.put_sums(f"containerd/containerd/releases/download/v{containerd}/{archive}.sha256sum", archive)
            archive = f"helm-v{helm}-linux-{processor}.tar.gz"
            self.publishers.put_sums(f"{archive}.sha256sum", archive)
        self.publishers.put_sums(f"opencontainers/runc/releases/download/v{runc}/runc.sha256sum", "runc.amd64", "runc.arm64", "runc.riscv64")
        calico, cilium = self.engine["plugins"]["calico"], self.engine["plugins"]["cilium"]
        put(f"projectcalico/calico/raw/{calico['version']}/manifests/{calico['manifest']}", "calico")
        put(cilium["chart"], "cilium")
        for project, version in {"containerd/containerd": f"v{containerd}", "opencontainers/runc": "v99.0.1", "helm/helm": "v3.0.0",
                                 "projectcalico/calico": calico["version"], "cilium/cilium": cilium["version"]}.items():
            self.publishers.put_latest(project, version)

    def renew(self, *options, code=0):
        """Runs the script on the catalogue. Returns what it prints and the catalogue afterwards."""
        file = self.publishers.folder / "versions.json"
        file.write_text(json.dumps(self.catalogue))
        urls = [f"--{name}-url={self.publishers.url}/" for name in ("dl-k8s-io", "github", "get-helm", "cilium-chart")]
        done = subprocess.run([self.python, SCRIPT, f"--file={file}", *urls, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout, json.loads(file.read_text())

    def assert_refused(self, sentence):
        said, after = self.renew(code=1)
        self.assertRegex(said, sentence)
        self.assertTrue(said.endswith("Nothing was changed.\n") and "Traceback" not in said, said)
        self.assertEqual(after, self.catalogue)

    def test_what_follows_from_the_chosen_versions_is_renewed(self):
        said, after = self.renew()
        engine = after["kubeonkube"]
        self.assertEqual(engine["minors"][1], {
            "minor": "1.36", "run": "1.36.4", "newest": "1.36.5", "released": "2026-04-22", "end_of_support": "2999-12-28",
            "components": {"of": "1.36.4", "etcd": "3.6.11-0", "coredns": "v1.14.9", "pause": "3.11"}})
        # Without support, it keeps its images: nobody should install it.
        self.assertEqual(engine["minors"][0], {**self.engine["minors"][0], "newest": "1.30.14"})
        self.assertEqual(list(engine["programs"]), ["1.36.4", "1.36.5"])
        self.assertEqual(engine["programs"]["1.36.5"]["arm64"]["kubectl"], hashlib.sha256(b"kubectl 1.36.5 arm64").hexdigest())
        self.assertEqual(engine["containerd"]["sha256"], {"amd64": "1" * 64, "arm64": "1" * 64})
        self.assertEqual(engine["runc"]["sha256"], {"amd64": "1" * 64, "arm64": "2" * 64})
        self.assertEqual(engine["plugins"]["cilium"]["sha256"], hashlib.sha256(b"cilium").hexdigest())
        self.assertEqual(after["as_of"], datetime.datetime.now(datetime.timezone.utc).date().isoformat())
        self.assertIn('minors 1.36 newest: "1.36.4" -> "1.36.5"\n', said)
        self.assertIn(f"runc: the latest release is v99.0.1, the catalogue has {self.engine['runc']['version']}.\n", said)
        self.assertIn("Kubernetes 1.36: the newest patch is 1.36.5, the lab runs 1.36.4.\n", said)
        self.assertNotIn("helm: the latest", said)

    def test_renewed_again_nothing_changes(self):
        _, self.catalogue = self.renew()
        said, after = self.renew("--check")
        self.assertEqual(after, self.catalogue)
        self.assertNotIn("->", said)

    def test_a_check_writes_nothing(self):
        said, after = self.renew("--check", code=3)
        self.assertIn("->", said)
        self.assertEqual(after, self.catalogue)

    def test_a_minor_version_that_was_released_is_added(self):
        text = SCHEDULE.format(minor="1.40", released="2026-08-26") + SCHEDULE.split("schedules:\n")[1].format(minor="1.41", released="2998-01-01")
        self.publishers.put("kubernetes/website/raw/main/data/releases/schedule.yaml", text)
        self.publishers.put("release/stable-1.40.txt", "v1.40.2")
        self.publishers.put_kubernetes("1.40.2", etcd="3.7.3-0")
        said, after = self.renew()
        self.assertEqual([minor["minor"] for minor in after["kubeonkube"]["minors"]], ["1.30", "1.36", "1.40"])
        self.assertEqual(after["kubeonkube"]["minors"][2]["components"], {"of": "1.40.2", "etcd": "3.7.3-0", "coredns": "v1.14.9", "pause": "3.11"})
        self.assertIsNone(after["kubeonkube"]["minors"][2]["run"])
        self.assertIn("Kubernetes 1.40 is new.\n", said)

    def test_a_changed_release_is_refused(self):
        _, self.catalogue = self.renew()
        self.publishers.put("release/v1.36.4/bin/linux/arm64/kubelet.sha256", "a" * 64)
        self.assert_refused("checksums of Kubernetes 1.36.4 are no longer those of the catalogue")

    def test_a_kubeadm_with_another_checksum_is_not_started(self):
        for processor in ("amd64", "arm64"):
            self.publishers.put(f"release/v1.36.4/bin/linux/{processor}/kubeadm", f"#!/bin/sh\ntouch {self.publishers.folder}/started\n")
        self.assert_refused("bin/linux/a..64/kubeadm has another SHA-256 than published")
        self.assertFalse((self.publishers.folder / "started").exists())

    def test_what_is_missing_or_malformed_is_named(self):
        runc = f"opencontainers/runc/releases/download/v{self.engine['runc']['version']}/runc.sha256sum"
        for path, text, sentence in [
            ("release/stable-1.36.txt", "<html>", "stable-1.36.txt names no version of 1.36: <html>"),
            ("release/v1.36.5/bin/linux/arm64/kubectl.sha256", "no sum", "kubectl.sha256 has no SHA-256"),
            ("kubernetes/website/raw/main/data/releases/schedule.yaml", "[", "schedule.yaml has another form"),
            (runc, f"{'1' * 64}  runc.amd64\n", "runc.sha256sum has no SHA-256 of runc.arm64"),
            (self.engine["plugins"]["cilium"]["chart"], None, "tgz can't be read: HTTP Error 404"),
        ]:
            with self.subTest(path):
                self.put_all()
                self.publishers.put(path, text or "")
                if text is None:
                    (self.publishers.folder / path).unlink()
                self.assert_refused(sentence)


class Layout(unittest.TestCase):
    def test_the_catalogue_has_the_layout_of_the_script(self):
        """Otherwise a renewal changes each line."""
        script = [str(Path(ansible_bin(self)) / "python3"), "-c", "import json, sys, renew_versions; print(renew_versions.written(json.load(sys.stdin)))"]
        done = subprocess.run(script, cwd=SCRIPT.parent, input=FILE.read_text(), stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, FILE.read_text())


if __name__ == "__main__":
    unittest.main()
