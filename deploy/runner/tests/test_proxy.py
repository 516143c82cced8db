# SPDX-License-Identifier: Apache-2.0
"""What machines download: through which proxy, and that another checksum is refused."""

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from staged_run import ansible_bin
from test_engine import ROLES, VALUES, module
from test_network import CATALOGUE, Rendered

proxy = module("variables/filter_plugins/proxy.py")
NONE = {**VALUES, "http_proxy": "", "https_proxy": "", "no_proxy": "", "additional_no_proxy": ""}
PROXY = "http://proxy.example:3128"


class Environment(unittest.TestCase):
    def test_without_a_proxy_nothing_is_set(self):
        self.assertEqual(proxy.proxy_environment(NONE, ["localhost"]), {})

    def test_cluster_addresses_are_reached_directly(self):
        found = proxy.proxy_environment({**NONE, "https_proxy": PROXY, "additional_no_proxy": "files.example, localhost"}, ["localhost", "", "10.1.0.0/16"])
        self.assertEqual(found["HTTPS_PROXY"], PROXY)
        self.assertEqual(found["no_proxy"], "localhost,10.1.0.0/16,files.example")
        self.assertNotIn("http_proxy", found)
        replaced = proxy.proxy_environment({**NONE, "http_proxy": PROXY, "no_proxy": "only.example"}, ["localhost"])
        self.assertEqual(replaced["NO_PROXY"], "only.example")

    def test_a_server_in_a_network_of_the_list_is_listed_itself(self):
        listed = lambda direct, **values: proxy.proxy_environment({**NONE, "http_proxy": PROXY, **values}, direct)["no_proxy"]  # noqa: E731
        self.assertEqual(listed(["192.0.2.0/24"], files_repo="http://192.0.2.7:8000/files"), "192.0.2.0/24,192.0.2.7")
        self.assertEqual(listed(["192.0.2.0/24"], files_repo="http://198.51.100.7:8000"), "192.0.2.0/24")
        self.assertEqual(listed(["192.0.2.0/24"], files_repo="http://files.example", get_helm_url="https://192.0.2.8"), "192.0.2.0/24,192.0.2.8")
        self.assertEqual(listed(["192.0.2.0/24"], kube_image_repo="192.0.2.9:5000/k8s"), "192.0.2.0/24,192.0.2.9")
        self.assertEqual(listed([], no_proxy="10.0.0.0/8", files_repo="http://10.1.2.3:8000"), "10.0.0.0/8,10.1.2.3")
        self.assertEqual(listed(["192.0.2.0/24"], files_repo="http://[broken"), "192.0.2.0/24")

    def test_addresses_come_from_the_inventory(self):
        hosts = {"m1": {"ansible_host": "192.0.2.1", "ip": "10.0.0.1"}, "m2": {"ansible_host": "192.0.2.1"}, "m3": {}}
        self.assertEqual(proxy.inventory_addresses(list(hosts), hosts), ["10.0.0.1", "192.0.2.1"])

    def test_a_password_is_refused_because_command_lines_would_contain_it(self):
        for bad in ("http://user:secret@proxy.example:3128", "https://secret@[fd00::1]:3128/"):
            for name in ("http_proxy", "https_proxy"):
                [problem] = proxy.proxy_problems({**NONE, name: bad})
                self.assertIn(f"{name} contains a user name or password", problem)
                self.assertNotIn("secret", problem)

    def test_what_is_no_proxy_is_refused_without_repeating_it(self):
        self.assertEqual(proxy.proxy_problems({**NONE, "http_proxy": PROXY, "https_proxy": "http://[fd00::1]:3128/"}), [])
        for bad in ("proxy.example:3128", "socks5://proxy.example", "http://user:secret word@proxy.example"):
            [problem] = proxy.proxy_problems({**NONE, "http_proxy": bad})
            self.assertIn("http_proxy is no address of a proxy", problem)
            self.assertNotIn("secret", problem)
        self.assertIn("must be a list with commas", proxy.proxy_problems({**NONE, "no_proxy": "a b"})[0])


class Containerd(Rendered):
    def test_its_service_gets_the_proxy(self):
        found = self.rendered("containerd", "proxy.conf.j2", http_proxy=PROXY, additional_no_proxy="a%b", machine={"network": "192.0.2.0/24"}, kube_vip_enabled=True,
                              kube_vip_address="192.0.2.10").read_text()
        self.assertIn('Environment="http_proxy=http://proxy.example:3128"', found)
        self.assertIn('Environment="NO_PROXY=localhost,127.0.0.0/8,::1,192.0.2.0/24,192.0.2.10,10.233.64.0/18,10.233.0.0/18,.svc,.cluster.local,a%%b"', found)


class Server(http.server.SimpleHTTPRequestHandler):
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


class Served(unittest.TestCase):
    """A machine that downloads from a server on this one."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kubeonkube-downloads-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Server(*given, directory=self.folder / "served"))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def play(self, tasks, **variables):
        """The exit code and the output of a play with these tasks."""
        machine = {"architecture": "amd64", "versions": {"kubectl": ""}, "network": "192.0.2.0/24"}
        known = {"bin_dir": str(self.folder / "bin"), "machine": machine}
        play = [{"hosts": "m1", "gather_facts": False, "vars": {**known, **variables}, "tasks": tasks}]
        (self.folder / "play.yml").write_text(json.dumps(play))
        (self.folder / "hosts.yml").write_text(json.dumps({"all": {"children": {"kube_control_plane": {"hosts": {"m1": {"ansible_connection": "local"}}}}}}))
        ansible = Path(ansible_bin(self))
        done = subprocess.run([ansible / "ansible-playbook", "-i", self.folder / "hosts.yml", "-e", f"cluster_folder={self.folder}", self.folder / "play.yml"], text=True, check=False,
                              env={"PATH": f"{ansible}:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8", "ANSIBLE_ROLES_PATH": str(ROLES)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


class Programs(Served):
    """The role `programs` downloads from a server that plays dl.k8s.io."""

    def serve(self, version, content, published=None):
        served = self.folder / "served/release" / version / "bin/linux/amd64"
        served.mkdir(parents=True)
        (served / "kubectl").write_bytes(content)
        if published is not None:
            (served / "kubectl.sha256").write_text(published)

    def download(self, version, **variables):
        tasks = [{"name": "Download", "ansible.builtin.include_role": {"name": "programs", "tasks_from": "download"}, "vars": {"programs_names": ["kubectl"]}}]
        return self.play(tasks, **{"kube_version": version, "dl_k8s_io_url": self.url, **variables})

    def test_a_listed_version_must_have_the_checksum_of_the_catalogue(self):
        version = CATALOGUE["default"]
        content = b"a changed kubectl"
        self.serve("v" + version, content, hashlib.sha256(content).hexdigest())
        code, said = self.download(version)
        self.assertNotEqual(code, 0)
        self.assertIn("checksum", said)
        self.assertFalse((self.folder / "bin/kubectl").exists())

    def test_another_version_must_have_the_published_checksum(self):
        self.serve("v1.30.1", b"kubectl", hashlib.sha256(b"kubectl").hexdigest())
        code, said = self.download("1.30.1")
        self.assertEqual(code, 0, said)
        self.assertEqual((self.folder / "bin/kubectl").read_bytes(), b"kubectl")

    def test_a_program_without_checksum_is_refused(self):
        self.serve("v1.30.1", b"kubectl")
        self.assertNotEqual(self.download("1.30.1")[0], 0)
        self.assertFalse((self.folder / "bin/kubectl").exists())

    def test_files_repo_in_the_machines_network_is_reached_without_the_proxy(self):
        self.serve("v1.30.1", b"kubectl", hashlib.sha256(b"kubectl").hexdigest())
        known = {"architecture": "amd64", "versions": {"kubectl": ""}, "network": "127.0.0.0/8"}
        code, said = self.download("1.30.1", files_repo=self.url, http_proxy="http://127.0.0.1:1", machine=known)
        self.assertEqual(code, 0, said)

    def test_a_download_goes_through_the_proxy(self):
        # This server is the proxy, too: it gets the whole address.
        Server.asked.clear()
        self.serve("v1.30.1", b"kubectl")
        code, _ = self.download("1.30.1", dl_k8s_io_url="http://dl.example", http_proxy=self.url)
        self.assertNotEqual(code, 0)
        self.assertTrue(any(path.startswith("http://dl.example/release/v1.30.1/bin/linux/amd64/kubectl") for path in Server.asked), Server.asked)


if __name__ == "__main__":
    unittest.main()
