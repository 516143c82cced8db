# SPDX-License-Identifier: Apache-2.0
"""The network plugins calico and cilium: what the engine makes of such files, with the real kubectl. The plugins aren't run.

The published files aren't here: published_plugins.py checks them by hand.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from staged_run import HERE, ansible_bin, skip
from test_engine import ROLES, SYSTEMS, VALUES, machine, machines, module

apply_manifest = module("../library/apply_manifest.py")
CATALOGUE = json.loads((HERE / "playbooks/versions.json").read_text())["kubeonkube"]

# A manifest with the parts of calico's that the engine changes.
CALICO = """
apiVersion: v1
kind: ConfigMap
metadata: {name: calico-config, namespace: kube-system}
data: {typha_service_name: none, calico_backend: bird, veth_mtu: "0"}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: calico-node, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: calico-node}}
  template:
    metadata: {labels: {k8s-app: calico-node}}
    spec:
      initContainers: [{name: install-cni, image: "quay.io/calico/cni:VERSION"}]
      containers:
        - name: calico-node
          image: quay.io/calico/node:VERSION
          env: [{name: NODENAME, value: here}, {name: CALICO_IPV4POOL_IPIP, value: Always}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: calico-kube-controllers, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: calico-kube-controllers}}
  template:
    metadata: {labels: {k8s-app: calico-kube-controllers}}
    spec: {containers: [{name: calico-kube-controllers, image: "quay.io/calico/kube-controllers:VERSION"}]}
"""


def program(test, name):
    """The path of kubectl or helm: from the tools that `cargo xtask test` builds, or installed."""
    built = sorted((HERE.parent.parent / "target/tools").glob(f"{name}-*/bin/{name}")) + sorted((HERE.parent.parent / "target/tools").glob(f"{name}-*"))
    found = next((str(path) for path in built if path.is_file()), None) or shutil.which(name)
    if not found:
        skip(test, f"{name} is missing")
    return found


class Rendered(unittest.TestCase):
    """Runs the roles' own templates."""

    def rendered(self, role, template, planes=("m1",), **variables):
        folder = Path(tempfile.mkdtemp(prefix="kubeonkube-network-"))
        self.addCleanup(shutil.rmtree, folder)
        play = {"hosts": "m1", "gather_facts": False, "become": False, "vars": variables, "tasks": [
            {"name": "Read the variables", "ansible.builtin.include_role": {"name": "variables", "tasks_from": "verify", "public": True}},
            {"name": "Render", "ansible.builtin.include_role": {"name": "render"}, "vars": {"template": str(ROLES / role / "templates" / template)}}]}
        task = [{"name": "Render", "ansible.builtin.template": {"src": "{{ template }}", "dest": str(folder / "rendered"), "mode": "0600"}}]
        (folder / "roles/render/tasks").mkdir(parents=True)
        # Beside the engine's roles, so that their variables find the catalogue.
        (folder / "roles/render/tasks/main.yml").write_text(json.dumps(task))
        for name in ("variables", "network"):
            (folder / "roles" / name).symlink_to(ROLES / name)
        (folder / "versions.json").symlink_to(HERE / "playbooks/versions.json")
        (folder / "play.yml").write_text(json.dumps([play]))
        (folder / "hosts.yml").write_text(json.dumps({"all": {"children": {
            "kube_control_plane": {"hosts": {name: {"ansible_connection": "local"} for name in planes}}, "kube_node": {"hosts": {"m2": {}, "m3": {}}}}}}))
        ansible = Path(ansible_bin(self))
        done = subprocess.run([ansible / "ansible-playbook", "-i", folder / "hosts.yml", folder / "play.yml"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"PATH": f"{ansible}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return folder / "rendered"


class Calico(Rendered):
    def manifest(self, text, **variables):
        kubectl = program(self, "kubectl")
        rendered = self.rendered("network_calico", "kustomization.yaml.j2", kube_network_plugin="calico", **variables)
        folder = rendered.parent / "calico"
        folder.mkdir()
        shutil.move(rendered, folder / "kustomization.yaml")
        (folder / "calico.yaml").write_text(text)
        done = subprocess.run([kubectl, "kustomize", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def checked(self, text, images=3, **variables):
        found = self.manifest(text, kube_pods_subnet="10.5.0.0/16", calico_mtu=1400, calico_vxlan_mode="Always", quay_image_repo="mirror.test:5000/quay", **variables)
        for line in ('veth_mtu: "1400"', "calico_backend: vxlan", "value: 10.5.0.0/16", "name: CALICO_IPV4POOL_CIDR", "image: mirror.test:5000/quay/calico/node:"):
            self.assertIn(line, found)
        pools = [tuple(part.strip() for part in lines) for lines in zip(found.splitlines(), found.splitlines()[1:]) if "CALICO_IPV4POOL" in lines[0]]
        self.assertEqual(sorted(pools), [("- name: CALICO_IPV4POOL_CIDR", "value: 10.5.0.0/16"), ("- name: CALICO_IPV4POOL_IPIP", "value: Never"),
                                         ("- name: CALICO_IPV4POOL_VXLAN", "value: Always")])
        used = {line.split("image: ")[1] for line in found.splitlines() if "image: " in line}
        self.assertEqual(len(used), images)
        self.assertTrue(all(image.startswith("mirror.test:5000/quay/calico/") for image in used), used)
        return found

    def test_the_settings_of_the_cluster_are_filled_in(self):
        self.checked(CALICO.replace("VERSION", CATALOGUE["plugins"]["calico"]["version"]))


class Cilium(Rendered):
    def values(self, **variables):
        return self.rendered("network_cilium", "values.yaml.j2", kube_network_plugin="cilium", **variables)

    def test_the_settings_of_the_cluster_are_filled_in(self):
        found = self.values(cilium_mtu=1400, quay_image_repo="mirror.test:5000/quay").read_text()
        for line in ("MTU: 1400", 'kubeProxyReplacement: "false"', "replicas: 2", 'repository: "mirror.test:5000/quay/cilium/operator", tag: "v1.'):
            self.assertIn(line, found)


class Prechecks(unittest.TestCase):
    def problems(self, plugin, **changes):
        wanted = {"first": "m1", "control_planes": ["m1"], "version": "v1.34.4", "now": 1000, "silent": [], "needs_cluster": False, "systems": SYSTEMS["systems"]}
        judged = {"m1": machine("192.0.2.1"), "m2": machine("192.0.2.2", **changes)}
        return " ".join(machines.machine_problems(judged, "m2", {**VALUES, "kube_network_plugin": plugin}, wanted))

    def test_what_a_plugin_needs_is_checked(self):
        self.assertIn("cilium needs 5.10 or newer", self.problems("cilium", kernel="5.4.0-1"))
        self.assertEqual(self.problems("calico", kernel="5.4.0-1"), "")
        self.assertIn("port 9099", self.problems("calico", ports=[9099]))
        self.assertEqual(self.problems("bridge", ports=[9099]), "")

    def test_only_the_bridge_needs_one_network(self):
        self.assertIn("must be in one network", self.problems("bridge", network="198.51.100.0/24"))
        self.assertEqual(self.problems("calico", network="198.51.100.0/24"), "")


class Apply(unittest.TestCase):
    """With a kubectl that keeps a ConfigMap and a DaemonSet in files."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kubeonkube-apply-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def kubectl(self, get, apply):
        script = self.folder / "kubectl"
        as_list = lambda objects: json.dumps({"kind": "List", "items": objects})  # noqa: E731
        (self.folder / "get").write_text(as_list(get) if get else "")
        (self.folder / "apply").write_text(as_list(apply))
        script.write_text(f'#!/bin/sh\ncat > /dev/null\necho "$@" >> {self.folder}/said\ncat {self.folder}/$1\n')
        script.chmod(0o755)
        return [str(script)]

    def test_only_what_changed_is_reported(self):
        settings = lambda version: {"kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", "resourceVersion": version}}  # noqa: E731
        daemons = lambda generation, version: {"kind": "DaemonSet", "metadata": {"name": "b", "generation": generation, "resourceVersion": version}}  # noqa: E731
        self.assertEqual(apply_manifest.apply(self.kubectl([], [settings("1")]), "", False), ["ConfigMap/n/a"])
        # The status of a DaemonSet changes its resource version.
        self.assertEqual(apply_manifest.apply(self.kubectl([settings("1"), daemons(1, "2")], [settings("1"), daemons(1, "9")]), "", False), [])
        self.assertEqual(apply_manifest.apply(self.kubectl([daemons(1, "2")], [daemons(2, "3")]), "", True), ["DaemonSet/b"])
        self.assertEqual(apply_manifest.apply(self.kubectl([], [settings(None)]), "", True), ["ConfigMap/n/a"])
        self.assertIn("--dry-run=server", (self.folder / "said").read_text().splitlines()[-1])

    def test_a_failure_is_quoted(self):
        with self.assertRaisesRegex(apply_manifest.Failed, "failed: no such chart"):
            apply_manifest.run(["sh", "-c", "echo no such chart >&2; exit 1"])
        with self.assertRaisesRegex(apply_manifest.Failed, "can't be started"):
            apply_manifest.run(["/nonexistent/helm"])


class Reset(unittest.TestCase):
    """In a network namespace of its own, with the interfaces, routes and rules that the plugins make."""

    def test_what_the_plugins_left_is_removed_and_nothing_else(self):
        inside = ["unshare", "--net", "--mount", "sh", "-ec"]
        made = """
            mount --make-rprivate /
            ip link set lo up
            for name in eth0 vxlan.calico cali0123456789a cali-mine cilium_host cilium_vxlan lxc00aa11 cni0; do ip link add $name type bridge; done
            ip link set eth0 up
            ip route add 10.9.1.0/24 dev eth0 proto 80
            ip route add 10.9.2.0/24 dev eth0 proto 77
            ip route add 10.9.3.0/24 dev eth0
            ip rule add pref 9 fwmark 0x200/0xf00 lookup 2004
            ip rule add pref 100 from all lookup local
            ip rule del pref 0
            sh -c "$RESET" && sh -c "$RESET"
            ip -o link | sed 's/^[0-9]*: \\([^:@]*\\).*/\\1/'; ip route; ip rule
        """
        if os.geteuid() != 0 or subprocess.run([*inside, "ip link add eth0 type bridge"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            skip(self, "a network namespace can't be made, which needs root")
        script = (ROLES / "reset/files/clean-network.sh").read_text()
        # The machine's own sets and rules are those of the namespace.
        done = subprocess.run([*inside, made], env={**os.environ, "RESET": script}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        links = [line for line in lines if " " not in line]
        self.assertEqual(sorted(links), ["cali-mine", "eth0", "lo"])
        self.assertEqual([line for line in lines if line.startswith("10.9.")], ["10.9.3.0/24 dev eth0 scope link"])
        self.assertEqual([line.replace("\t", " ") for line in lines if ":" in line], ["0: from all lookup local", "32766: from all lookup main", "32767: from all lookup default"])

    def test_only_the_programs_of_plugins_are_removed(self):
        folder = Path(tempfile.mkdtemp(prefix="kubeonkube-reset-"))
        self.addCleanup(shutil.rmtree, folder)
        script = (ROLES / "reset/files/clean.sh").read_text()
        start, end = script.index("for program in"), script.index("# These may be mounts")
        part = script[start:end].replace("/opt/cni/bin", str(folder))
        for kept, expected in [(["bridge", "a b"], ["a b", "bridge"]), ([], []), (["--all"], ["a b", "bridge", "calico"])]:
            for name in ("bridge", "calico", "a b"):
                (folder / name).write_text("")
            subprocess.run(["sh", "-c", part, "clean.sh", *kept], check=True)
            self.assertEqual(sorted(os.listdir(folder)), expected)


if __name__ == "__main__":
    unittest.main()
