# SPDX-License-Identifier: Apache-2.0
"""What the playbooks of the engine judge without a machine: variables, groups, machines, removals, drains. The lab runs them for real."""

import errno
import hashlib
import http.server
import importlib.util
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

from staged_run import HERE, LOCAL, StagedRun, ansible_bin, skip

ROLES = HERE / "playbooks/roles"


def module(path):
    """A module or filter of a role."""
    spec = importlib.util.spec_from_file_location(Path(path).stem.replace("-", "_"), ROLES / path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


variables = module("variables/filter_plugins/cluster_problems.py")
machines = module("precheck/filter_plugins/machine_problems.py")
reach = module("precheck/library/reach.py")
removal = module("drain/filter_plugins/removal_problems.py")
drain = module("../library/drain_node.py")
images = module("images/library/image_archives.py")
state = module("../library/machine_state.py")
network = module("network_bridge/files/pod-network.py")
image_names = module("variables/filter_plugins/images.py")
downloads = module("variables/filter_plugins/downloads.py")

SYSTEMS = json.loads((HERE / "playbooks/systems.json").read_text())
VALUES = {"kube_version": "1.34.4", "kube_pods_subnet": "10.233.64.0/18", "kube_service_addresses": "10.233.0.0/18", "kube_network_node_prefix": 24,
          "kubelet_max_pods": 110, "kubelet_fail_swap_on": True, "kubelet_config_extra_args": {}, "kube_network_plugin": "bridge", "calico_vxlan_mode": "CrossSubnet", "kube_apiserver_port": 6443}
KUBEADM = {"url": "http://files/kubeadm", "source": "files_repo"}
IMAGE = {"url": "https://registry.example/v2/kube-proxy/manifests/v1.34.4", "source": "kube_image_repo"}
GROUPS = {"kube_control_plane": ["m1"], "kube_node": ["m2", "m3"], "etcd": ["m1"]}


def machine(address="192.0.2.11", **changes):
    return {"is_root": True, "system": "debian 12", "likes": ["debian"], "architecture": "amd64", "kernel": "6.1.0-40-amd64", "cpus": 2,
            "memory_mb": 4000, "swap_mb": 0, "cgroup": 2, "disk_free_mb": 9000, "asked_at": 1000, "clock": 1000, "address": address, "addresses": [address], "network": "192.0.2.0/24", "ports": [22],
            "kubeadm_runs": False, "state": "fresh", "installed": {}, "ca": "", "machine_id": address, "mac": address, "mtu": 1500, **changes}


def member(address="192.0.2.11", version="v1.34.4", **fixed):
    return machine(address, state="member", ca="a", installed={"version": version, "fixed": fixed})


class Variables(unittest.TestCase):
    def problems(self, groups=None, **values):
        found = variables.group_problems({**GROUPS, **(groups or {})}) + variables.network_problems({**VALUES, **values})
        return " ".join(found)

    def test_the_service_of_the_kubernetes_api_has_the_first_address(self):
        self.assertEqual([variables.first_address(network) for network in ("10.233.0.0/18", "fd00::/112")], ["10.233.0.1", "fd00::1"])

    def test_sound_variables_and_groups_have_no_problem(self):
        self.assertEqual(self.problems(), "")

    def test_networks_that_cannot_work_are_refused(self):
        self.assertIn("overlap", self.problems(kube_service_addresses="10.233.0.0/16"))
        self.assertIn("must be a network", self.problems(kube_pods_subnet="10.233.64.1/18"))
        self.assertIn("from 19 to 30", self.problems(kube_network_node_prefix=18))
        self.assertIn("too few addresses", self.problems(kubelet_max_pods=300))

    def test_groups_that_the_engine_cannot_build_are_refused(self):
        self.assertIn("has no host", self.problems({"kube_control_plane": []}))
        self.assertIn("Use 1, 3 or 5", self.problems({"kube_control_plane": ["m1", "m2"], "etcd": []}))
        self.assertIn("Group etcd", self.problems({"etcd": ["m2"]}))
        self.assertIn("can't be the name of a node", self.problems({"kube_node": ["Worker_1"]}))

    def test_a_hosted_cluster_has_only_workers(self):
        problems = lambda planes, workers: " ".join(variables.group_problems({"kube_control_plane": planes, "kube_node": workers}, hosted=True))  # noqa: E731
        self.assertEqual(problems([], ["m1", "m2"]), "")
        self.assertIn("Move them to kube_node", problems(["m1"], ["m2"]))
        self.assertIn("Group kube_node has no host", problems([], []))
        self.assertIn("can't be the name of a node", problems([], ["Worker_1"]))
        self.assertIn("Set it to bridge", " ".join(variables.hosted_problems({"kube_network_plugin": "calico"})))

    def test_several_control_planes_need_an_endpoint(self):
        three = {**GROUPS, "kube_control_plane": ["m1", "m2", "m3"], "etcd": []}
        problems = lambda endpoint, groups=three: " ".join(variables.endpoint_problems({"loadbalancer_apiserver": endpoint}, groups))  # noqa: E731
        self.assertIn("or set loadbalancer_apiserver", problems({}))
        self.assertEqual(problems({}, GROUPS) + problems({"address": "192.0.2.10", "port": 6443}), "")
        for bad in ({"port": 6443}, {"address": "192.0.2.10", "port": "https"}, {"address": "192.0.2.10", "ports": 1}):
            self.assertIn("needs an address", problems(bad), bad)


class Machines(unittest.TestCase):
    def problems(self, judged, host="m2", first=None, values=None, **wanted):
        all_machines = {"m1": first or machine("192.0.2.1"), host: judged}
        wanted = {"first": "m1", "control_planes": ["m1"], "version": "v1.34.4", "now": 1000, "silent": [], "lossy": [],
                  "downloads": [{"status": 200, "item": KUBEADM}], "needs_cluster": False, "systems": SYSTEMS["systems"], "judges_first": not wanted.get("needs_cluster"), **wanted}
        return " ".join(machines.machine_problems(all_machines, host, {**VALUES, **(values or {})}, wanted))

    def test_a_sound_machine_has_no_problem(self):
        self.assertEqual(self.problems(machine()), "")
        self.assertEqual(self.problems(member(), first=member("192.0.2.1")), "")

    def test_what_a_machine_lacks_is_named(self):
        for changes, expected in [
            ({"is_root": False}, "isn't root"),
            ({"likes": ["alpine"], "system": "alpine 3"}, "alpine 3"),
            ({"likes": ["alpine"], "system": "alpine 3"}, "and systems like these. Install one of them."),
            ({"architecture": "s390x"}, "The processor is s390x. Kubernetes has programs for amd64 and arm64. Use a machine with one of these."),
            ({"kernel": "3.10.0-1160"}, "3.10.0-1160"),
            ({"memory_mb": 512}, "512 MB of memory, and a node needs 1024 MB. Use a larger machine."),
            ({"disk_free_mb": 100}, "100 MB left"),
            ({"swap_mb": 2048}, "Swap is on (2048 MB)"),
            ({"clock": 940}, "The clock is 60 s slow"),
            ({"clock": 1060}, "The clock is 60 s fast"),
            ({"address": ""}, "no default route"),
            ({"network": ""}, "no interface"),
            ({"address": "10.233.64.9"}, "is in kube_pods_subnet"),
            ({"ports": [10250]}, "port 10250"),
            ({"state": "foreign"}, "not by this engine"),
            ({"kubeadm_runs": True}, "still running"),
        ]:
            with self.subTest(expected):
                self.assertIn(expected, self.problems(machine(**changes)))
        self.assertEqual(self.problems(machine(swap_mb=2048), values={"kubelet_fail_swap_on": False}), "")
        self.assertIn("a control plane needs 2. Use a larger machine.", self.problems(machine(cpus=1), host="m1"))

    def test_a_right_clock_is_between_question_and_answer(self):
        self.assertEqual(self.problems(machine(), now=1090), "")
        self.assertEqual(self.problems(machine(clock=970)) + self.problems(machine(clock=1030)), "")
        self.assertIn("31 s slow", self.problems(machine(clock=969), now=1090))
        self.assertIn("31 s fast", self.problems(machine(clock=1121), now=1090))
        self.assertIn("99 s fast", self.problems(machine(clock=999), now=900))

    def test_systems_that_are_too_old_are_refused(self):
        debian, red_hat = ["debian"], ["rhel", "fedora"]
        for system, likes in [("debian 12", debian), ("debian 13", debian), ("ubuntu 22.04", debian), ("ubuntu 24.04", debian), ("rocky 9.4", red_hat),
                              ("almalinux 10.0", red_hat), ("linuxmint 22", debian), ("debian", debian), ("openEuler 22.03", ["openEuler"]),
                              ("kylin V10", ["kylin"]), ("kylin V11", ["kylin"])]:
            self.assertEqual(self.problems(machine(system=system, likes=likes, kernel="4.19.90-52.22.v2207.ky10.x86_64")), "", system)
        for system, likes in [("debian 11", debian), ("ubuntu 20.04", debian), ("centos 7", red_hat), ("alpine 3.20", ["alpine"]), ("openEuler 20.03", ["openEuler"]),
                              ("kylin V4", ["kylin"])]:
            self.assertIn(f"The system is {system}. Supported are Debian from 12, Ubuntu from 22.04", self.problems(machine(system=system, likes=likes)))

    def test_nodes_with_older_systems_keep_working(self):
        old = {"system": "debian 11", "likes": ["debian"]}
        first = {**member("192.0.2.1"), **old}
        self.assertEqual(self.problems({**member(), **old}, first=first), "")
        self.assertEqual(self.problems(machine(), first=first, needs_cluster=True) + self.problems(first, host="m1", first=first), "")
        self.assertIn("The system is debian 11", self.problems(machine(**old), first=first))

    def test_old_cgroups_are_refused_where_kubernetes_refuses_them(self):
        old = machine(cgroup=1)
        self.assertEqual(self.problems(old), "")
        self.assertIn("cgroups of version 1, which Kubernetes 1.35 and newer refuse", self.problems(old, values={"kube_version": "1.36.4"}))
        allowed = {"kube_version": "1.36.4", "kubelet_config_extra_args": {"failCgroupV1": False}}
        self.assertEqual(self.problems(old, values=allowed) + self.problems(machine(), values={"kube_version": "v1.36.4"}), "")

    def test_every_family_has_a_package_for_each_program(self):
        needed = {*state.PROGRAMS, "cni", "keepalived"}
        for name, family in SYSTEMS["families"].items():
            self.assertEqual(set(family["packages"]), needed, name)
            self.assertIn(family["cni"], state.CNI)

    def test_the_docs_list_the_systems(self):
        docs = (HERE.parent.parent / "docs/engine.md").read_text()
        for system in SYSTEMS["systems"]:
            self.assertIn(f"| {system['name']} | {system['from']} | {', '.join(system['run']) or 'none'} |\n", docs)

    def test_machines_that_clash_are_named(self):
        self.assertIn("the same address as m1", self.problems(machine("192.0.2.1", machine_id="x")))
        self.assertRegex(self.problems(machine(machine_id="192.0.2.1")), "the same machine-id as m1 .* run systemd-machine-id-setup, and restart it")
        self.assertRegex(self.problems(machine(mac="192.0.2.1")), "the same hardware address as m1 .* change it in the settings")
        self.assertNotIn("hardware address", self.problems(machine(mac="192.0.2.1", network="198.51.100.0/24")))
        self.assertNotIn("hardware address", self.problems({**member(), "mac": "192.0.2.1"}))
        self.assertIn("must be in one network", self.problems(machine(network="198.51.100.0/24")))
        silent = [{"name": "m1", "address": "192.0.2.1", "port": port} for port in (2379, 6443)]
        self.assertIn("no answer from m1 at 192.0.2.1, port 2379, 6443", self.problems(machine(), silent=silent))

    def test_every_machine_must_reach_the_ports_it_needs(self):
        three = {name: machine(f"192.0.2.{at}") for at, name in enumerate(("m1", "m2", "w1"), 1)}
        needed = lambda host: [(target["name"], target["port"]) for target in machines.needed_ports(three, host, ["m1", "m2"], 6443)]  # noqa: E731
        self.assertEqual(needed("w1"), [("m1", 6443), ("m2", 6443)])
        self.assertEqual(needed("m1"), [("m2", 6443), ("m2", 2379), ("m2", 2380), ("m2", 10250), ("w1", 10250)])

    def packets(self, found, host, **values):
        return [(target["name"], target["size"]) for target in machines.large_packets(found, host, {**VALUES, **values})]

    def test_every_machine_sends_large_packets_to_others(self):
        three = {name: machine(f"192.0.2.{at}", mtu=mtu) for at, (name, mtu) in enumerate((("m1", 1500), ("w1", 9000), ("w2", 1500)), 1)}
        self.assertEqual(self.packets(three, "w1"), [("w2", 1500), ("m1", 1500)], "TCP agrees on the smaller size")
        self.assertEqual(self.packets({"m1": machine()}, "m1") + self.packets({"m1": machine(), "m2": machine()}, "m1"), [], "one and the same")

    def test_packets_of_pods_are_tried_in_the_size_that_was_chosen(self):
        two = {"m1": machine("192.0.2.1"), "m2": machine("192.0.2.2")}
        apart = {**two, "m2": machine("198.51.100.2", network="198.51.100.0/24")}
        self.assertEqual(self.packets(two, "m1", kube_network_plugin="calico", calico_mtu=1350), [("m2", 1350)])
        self.assertEqual(self.packets(two, "m1", kube_network_plugin="calico", calico_mtu=1350, calico_vxlan_mode="Always"), [("m2", 1400)])
        self.assertEqual(self.packets(apart, "m1", kube_network_plugin="calico", calico_mtu=1350), [("m2", 1400)])
        self.assertEqual(self.packets(two, "m1", kube_network_plugin="cilium", cilium_mtu=9000), [("m2", 1500)])
        self.assertEqual(self.packets(two, "m1", kube_network_plugin="calico", calico_mtu=0), [("m2", 1500)])

    def test_many_machines_share_the_work(self):
        many = {f"m{at:03}": machine(f"192.0.2.{at}") for at in range(100)}
        targets = {host: [name for name, _ in self.packets(many, host)] for host in many}
        self.assertEqual({len(names) for names in targets.values()}, {8})
        self.assertEqual({sum(host in names for names in targets.values()) for host in many}, {8})

    def test_nodes_are_not_judged_by_the_path_between_them(self):
        found = {"m1": member("192.0.2.1"), "m2": member("192.0.2.2"), "m3": machine("192.0.2.3")}
        self.assertEqual([[name for name, _ in self.packets(found, host)] for host in found], [["m3"], ["m3"], ["m1", "m2"]])

    def test_a_path_that_loses_large_packets_is_named(self):
        lossy = [{"name": "m1", "address": "192.0.2.1", "size": 9000}]
        found = self.problems(machine(), lossy=lossy)
        self.assertIn("Packets of 9000 bytes to m1 at 192.0.2.1 are lost, smaller ones arrive. Give all machines and switches the same MTU, or", found)
        self.assertNotIn("calico_mtu", found)
        self.assertIn(", or lower calico_mtu.", self.problems(machine(), lossy=lossy, values={"kube_network_plugin": "calico"}))

    def test_a_machine_of_another_cluster_is_refused(self):
        of_lab = {**member(), "installed": {**member()["installed"], "cluster": "lab"}}
        first = machine("192.0.2.1", ca="b")
        self.assertIn("a node of another cluster:", self.problems(member(), first=first, cluster="prod"))
        self.assertIn("a node of the cluster lab:", self.problems(of_lab, first=first, cluster="prod"))
        self.assertIn("a node of another cluster:", self.problems(of_lab, first=first, cluster="lab"), "of an older one with this name")

    def test_a_machine_joins_only_the_hosted_cluster_that_it_belongs_to(self):
        def problems(judged, silent=()):
            wanted = {"first": "", "control_planes": [], "version": "v1.34.4", "now": 1000, "silent": silent,
                      "systems": SYSTEMS["systems"], "hosted_ca": "a"}
            return " ".join(machines.machine_problems({"m1": judged}, "m1", VALUES, {**wanted, "needs_cluster": False, "judges_first": False}))

        self.assertEqual(problems(machine()) + problems(member()), "")
        self.assertIn("another cluster", problems({**member(), "ca": "b"}))
        self.assertRegex(problems(member(version="v1.33.1")), "runs Kubernetes v1.33.1, and the control plane v1.34.4. .* run reset.yml")
        silent = [{"name": "the control plane", "address": "192.0.2.200", "port": 30443}]
        self.assertIn("no answer from the control plane at 192.0.2.200, port 30443", problems(machine(), silent))

    def test_a_server_without_the_programs_is_refused(self):
        refused = "Request failed: <urlopen error [Errno 111] Connection refused>"
        for status, reason in [(-1, refused), (404, "HTTP Error 404: Not Found")]:
            for asked in (KUBEADM, IMAGE):
                answer = {"item": asked, "status": status, "msg": f"Status code was {status} and not [200]: {reason}"}
                told = f"{asked['url']} can't be downloaded: {reason}. Check {asked['source']} and kube_version"
                self.assertIn(told, self.problems(machine(), downloads=[answer]))
        passed = [{"item": IMAGE, "status": status} for status in (200, 307, 401, 403, 405, 501)]
        self.assertEqual(self.problems(machine(), downloads=[{"item": KUBEADM, "skipped": True}, *passed]), "")

    def test_a_registry_that_python_does_not_trust_passes(self):
        for reason in ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:992)", "[SSL] record layer failure (_ssl.c:1006)"):
            answer = {"status": -1, "msg": f"Status code was -1 and not [200]: Request failed: <urlopen error {reason}>"}
            self.assertEqual(self.problems(machine(), downloads=[{**answer, "item": IMAGE}]), "")
            self.assertIn("can't be downloaded", self.problems(machine(), downloads=[{**answer, "item": KUBEADM}]))
        silent = {"status": -1, "msg": "Status code was -1 and not [200]: _ssl.c:983: The handshake operation timed out", "item": IMAGE}
        self.assertIn("The handshake operation timed out. Check kube_image_repo", self.problems(machine(), downloads=[silent]))

    def test_an_image_is_asked_for_where_containerd_finds_it(self):
        for repository, expected in [
            ("registry.k8s.io", "https://registry.k8s.io/v2/kube-proxy/manifests/v1"),
            ("registry.example:5000/k8s", "https://registry.example:5000/v2/k8s/kube-proxy/manifests/v1"),
            ("127.0.0.1:5000", "http://127.0.0.1:5000/v2/kube-proxy/manifests/v1"),
            ("localhost", "https://localhost/v2/kube-proxy/manifests/v1"),
            ("docker.io/k8s", "https://registry-1.docker.io/v2/k8s/kube-proxy/manifests/v1"),
            ("k8s", "https://registry-1.docker.io/v2/k8s/kube-proxy/manifests/v1"),
        ]:
            self.assertEqual(machines.image_url(repository + "/kube-proxy:v1", ["other.example"]), expected)
        for folder in ("registry.example:5000", "registry.example_5000_", "_default"):
            self.assertEqual(machines.image_url("registry.example:5000/kube-proxy:v1", [folder]), "", "it may be a mirror")

    def test_a_version_or_variable_that_cannot_change_is_refused(self):
        first = member(version="v1.33.1", kube_pods_subnet="10.1.0.0/16")
        found = self.problems(first, host="m1", first=first)
        self.assertIn("Set kube_version to 1.33.1", found)
        self.assertIn("kube_pods_subnet is '10.233.64.0/18', but the cluster was created with '10.1.0.0/16'", found)
        older = member()  # Made before this variable existed.
        found = self.problems(older, host="m1", first=older, values={"kube_encrypt_secret_data": True})
        self.assertIn("kube_encrypt_secret_data is True, but the cluster was created with False", found)

    def test_a_node_is_added_only_to_a_cluster_of_its_version(self):
        self.assertIn("Run cluster.yml without a limit first", self.problems(machine(), needs_cluster=True))
        self.assertEqual(self.problems(machine(), first=member("192.0.2.1"), needs_cluster=True), "")
        older = member("192.0.2.1", version="v1.33.1")
        self.assertIn("doesn't upgrade", self.problems(machine(), first=older, needs_cluster=True))

    def test_a_control_plane_is_added_only_to_a_cluster_with_these_settings(self):
        planes = {"control_planes": ["m1", "m2", "m3"], "needs_cluster": True}
        balancer = {"address": "192.0.2.99", "port": 6443}
        joined = lambda first, **values: self.problems(machine(), first=first, values=values, **planes)  # noqa: E731
        self.assertEqual(joined(member("192.0.2.1", loadbalancer_apiserver=balancer), loadbalancer_apiserver=balancer), "")
        self.assertIn("Run cluster.yml without a limit first", joined(machine("192.0.2.1")))
        alone = joined(member("192.0.2.1", loadbalancer_apiserver={}), loadbalancer_apiserver=balancer)
        self.assertIn("the cluster was created with {}, and it can't change", alone)
        self.assertIn("doesn't upgrade", joined(member("192.0.2.1", version="v1.33.1")))
        twice = self.problems(member(version="v1.33.1"), first=member("192.0.2.1", version="v1.33.1"), **planes)
        self.assertEqual(twice.count("doesn't upgrade"), 1)
        other = self.problems(member(), first={**member("192.0.2.1"), "ca": "b"}, **planes)
        self.assertIn("another cluster", other)

    def test_this_machine_is_described(self):
        before = int(time.time())
        found = state.look("/nonexistent", "", asked_at=before)
        self.assertTrue(found["asked_at"] == before <= found["clock"] <= time.time(), found)
        self.assertTrue(found["cpus"] > 0 and found["memory_mb"] > 0 and found["disk_free_mb"] > 0, found)
        self.assertEqual(found["versions"], dict.fromkeys(("kubeadm", "kubelet", "kubectl", "containerd", "runc"), ""))
        self.assertEqual((found["runtime_programs"], found["containerd_ours"]), ([], False))
        self.assertEqual(found["mtu"] > 0, bool(found["network"]))
        json.dumps(found)

    def test_the_runtime_in_the_folder_of_programs_is_described(self):
        with tempfile.TemporaryDirectory() as folder:
            said = {"containerd": "containerd github.com/containerd/containerd/v2 v2.3.4 abc", "runc": "runc version 1.4.3\nspec: 1.3.0\ngo: go1.26.8"}
            for name, text in said.items():
                path = Path(folder, name)
                path.write_text(f"#!/bin/sh\ncat <<END\n{text}\nEND\n")
                path.chmod(0o755)
            found = state.look(folder, "")
        self.assertEqual(found["runtime_programs"], ["containerd", "runc"])
        self.assertEqual((found["versions"]["containerd"], found["versions"]["runc"]), ("v2.3.4", "1.4.3"))


class Echo:
    """Takes the place of the socket. Answers packets up to `mtu` bytes, `answers` of each size; larger ones are lost, or reported by a router."""

    def __init__(self, mtu, answers=9, reports=False):
        self.mtu, self.answers, self.reports, self.sent = mtu, answers, reports, []

    def __call__(self, *_):
        return self

    __enter__ = __call__

    def __exit__(self, *_):
        pass

    setsockopt = connect = settimeout = __exit__

    def send(self, packet):
        self.sent.append(packet)

    def recv(self, _):
        packet = self.sent[-1]
        size = len(packet) + 20
        if size > self.mtu and self.reports:
            raise OSError(errno.EMSGSIZE, "Message too long")
        if size > self.mtu or [len(sent) for sent in self.sent].count(len(packet)) > self.answers:
            raise TimeoutError
        return b"\x45" + bytes(19) + b"\0\0\xff\xff" + packet[4:]


class Paths(unittest.TestCase):
    def carries(self, size, echo):
        with unittest.mock.patch.object(reach.socket, "socket", echo):
            return reach.carries("192.0.2.1", size)

    def test_only_a_path_that_loses_large_packets_is_lossy(self):
        self.assertTrue(self.carries(1500, Echo(mtu=1500)))
        self.assertFalse(self.carries(1500, Echo(mtu=1400)))
        self.assertTrue(self.carries(1500, Echo(mtu=0)), "it doesn't answer at all")
        self.assertTrue(self.carries(1500, Echo(mtu=1400, answers=1)), "it stopped answering")
        self.assertTrue(self.carries(1500, Echo(mtu=1400, reports=True)), "a router says so, and the machine then sends smaller ones")
        self.assertTrue(self.carries(1500, unittest.mock.Mock(side_effect=PermissionError)))

    def test_a_request_has_the_right_checksum(self):
        for number, sequence in ((1, 0), (0xFFFF, 2), (0xF7FF, 0)):
            words = struct.unpack("!750H", bytes(20) + reach.request(1500, number, sequence))
            total = sum(words)
            self.assertEqual((total & 0xFFFF) + (total >> 16), 0xFFFF)

    def namespace(self):
        """A network of its own, as the number of a process in it. It is gone when the process has ended."""
        if missing := [name for name in ("unshare", "nsenter", "ip") if not shutil.which(name)]:
            skip(self, f"{', '.join(missing)} is missing")
        process = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo ready; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        inside = ["nsenter", "--target", str(process.pid), "--net"]
        trial = [*inside, "sh", "-c", "ip link add trial type veth && echo 1 > /proc/sys/net/ipv4/ip_forward"]
        if process.stdout.readline() != b"ready\n" or subprocess.run(trial, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            skip(self, "a network namespace can't be made, which needs root")
        return str(process.pid)

    def test_packets_go_through_real_networks(self):
        own, other, behind = (self.namespace() for _ in range(3))
        lines = [
            (own, f"link add wide type veth peer name wide netns {other}"), (own, f"link add narrow type veth peer name narrow netns {other}"),
            (other, f"link add inside type veth peer name inside netns {behind}"),
            (own, "address add 192.0.2.1/28 dev wide"), (other, "address add 192.0.2.2/28 dev wide"),
            (own, "address add 192.0.2.17/28 dev narrow"), (other, "address add 192.0.2.18/28 dev narrow"),
            (other, "address add 192.0.2.33/28 dev inside"), (behind, "address add 192.0.2.34/28 dev inside"),
            (other, "link set narrow mtu 1400"), (other, "link set inside mtu 1400"), (behind, "link set inside mtu 1400"),
            *((own, f"link set {name} up") for name in ("wide", "narrow")), *((other, f"link set {name} up") for name in ("wide", "narrow", "inside")),
            (behind, "link set inside up"), (own, "route add 192.0.2.32/28 via 192.0.2.2"), (behind, "route add default via 192.0.2.33"),
        ]
        for namespace, line in lines:
            subprocess.run(["nsenter", "--target", namespace, "--net", "ip", *line.split()], check=True)
        packets = [{"name": name, "address": address, "size": 1500} for name, address in
                   (("wide", "192.0.2.2"), ("narrow", "192.0.2.18"), ("behind a router", "192.0.2.34"), ("silent", "192.0.2.3"))]
        code = """if True:
            import json, sys
            sys.path.insert(0, sys.argv[1])
            import reach
            packets = json.loads(sys.argv[2])
            small = [packet["name"] for packet in packets if reach.echoes(packet["address"], reach.SMALL)]
            print(json.dumps([small, reach.reached([], packets, 5)]))"""
        run = ["nsenter", "--target", own, "--net", sys.executable, "-Bc", code, ROLES / "precheck/library", json.dumps(packets)]
        small, found = json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(small, ["wide", "narrow", "behind a router"])
        self.assertEqual(found, {"unreachable_targets": [], "lossy_targets": [packets[1]]})


class Images(unittest.TestCase):
    KNOWN = [{"minor": "1.36", "components": {"etcd": "3.6.11-0"}}]
    NAMED = ["registry.example:5000/kube-proxy:v1.36.4", "registry.example:5000/etcd:3.6.8-0"]

    def test_a_newer_etcd_of_the_catalogue_takes_the_place_of_kubeadms(self):
        found = image_names.engine_images(self.NAMED, self.KNOWN, "v1.36.4")
        self.assertEqual(found, [self.NAMED[0], "registry.example:5000/etcd:3.6.11-0"])
        self.assertEqual(image_names.tag_of(found, "etcd"), "3.6.11-0")

    def test_kubeadms_etcd_stays_if_it_is_as_new_or_the_version_is_unknown(self):
        newer = [self.NAMED[0], "registry.example:5000/etcd:3.6.12-0"]
        self.assertEqual(image_names.engine_images(newer, self.KNOWN, "v1.36.9"), newer)
        self.assertEqual(image_names.engine_images(self.NAMED, self.KNOWN, "v1.38.0"), self.NAMED)
        self.assertEqual(image_names.engine_images([], self.KNOWN, "v1.36.4"), [])


class Downloads(unittest.TestCase):
    def explained(self, **failed):
        results = {"results": [{"item": "kubeadm"}, {"item": "kubelet", "failed": True, **failed}]}
        return downloads.failed_download(results, "http://files/bin", "files_repo")

    def test_a_failed_download_names_the_file(self):
        damaged = "The checksum for /root/.ansible/tmp/tmpx did not match afe3; it was 2a8d."
        self.assertRegex(self.explained(msg=damaged), "^http://files/bin/kubelet has another checksum than expected: .* Write the folder of files_repo")
        refused = "Request failed: <urlopen error [Errno 111] Connection refused>"
        self.assertIn(f"http://files/bin/kubelet can't be downloaded: {refused}. Check files_repo", self.explained(msg=refused))
        gone = {"msg": "Request failed", "response": "HTTP Error 404: Not Found", "url": "http://files/bin/kubelet.sha256"}
        self.assertIn("kubelet.sha256 can't be downloaded: HTTP Error 404: Not Found. Write", self.explained(**gone))
        with_url = {"item": {"url": "http://files/runc", "to": "/x"}, "failed": True, "msg": "gone"}
        self.assertIn("http://files/runc can't be downloaded: gone.", downloads.failed_download(with_url, "", "github_url"))


class Removal(unittest.TestCase):
    def test_only_workers_can_be_removed(self):
        problems = lambda *nodes: " ".join(removal.removal_problems(list(nodes), GROUPS))  # noqa: E731
        self.assertEqual(problems("m2", "m3"), "")
        self.assertIn("No node is named", problems())
        self.assertIn("m1 is the only control plane", problems("m2", "m1"))
        self.assertIn("Its workers are: m2, m3", problems("m9"))

    def test_the_budget_that_blocks_a_drain_is_named(self):
        budget = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
                  "status": {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2}}
        pod = {"metadata": {"name": "web-1", "namespace": "shop", "labels": {"app": "web"}}, "status": {"phase": "Running"}}
        elsewhere = {**pod, "metadata": {**pod["metadata"], "namespace": "other"}}
        [sentence] = drain.blocking([budget], [pod, elsewhere])
        self.assertIn("PodDisruptionBudget shop/web blocks it: 2 healthy pods, at least 2 needed. It keeps web-1.", sentence)
        spare = {**budget, "status": {"disruptionsAllowed": 1}}
        self.assertEqual(drain.blocking([spare], [pod]) + drain.blocking([budget], [elsewhere]), [])

    def test_pods_that_end_slowly_are_named(self):
        pod = lambda name, **metadata: {"metadata": {"name": name, "namespace": "shop", **metadata}}  # noqa: E731
        answers = {"node": {"spec": {}}, "pods": {"items": [pod("quick"), pod("slow", deletionTimestamp="2026-11-25T19:00:00Z")]}, "poddisruptionbudgets": {"items": []}}
        calls = []
        kubectl = drain.Kubectl([])
        kubectl.read = lambda kind, *_: answers[kind]
        kubectl.run = lambda *words: calls.append(words[0]) or subprocess.CompletedProcess(words, 1, "", "error: unable to drain node")
        with self.assertRaises(drain.Failed) as failed:
            drain.drain(kubectl, "m1", -1, "5s", "Relax the budget.")
        expected = "m1 could not be drained within 5s. These pods need longer to end: shop/slow. The node stays in the cluster and takes pods again. Give them a longer drain_timeout"
        self.assertTrue(str(failed.exception).startswith(expected) and "budget" not in str(failed.exception), failed.exception)
        self.assertEqual(calls, ["drain", "uncordon"])

    def test_label_selectors_are_evaluated(self):
        rule = lambda operator, *values: {"matchExpressions": [{"key": "a", "operator": operator, "values": list(values)}]}  # noqa: E731
        for selector, expected in [({}, True), (rule("In", "1"), True), (rule("NotIn", "1"), False), (rule("Exists"), True), (rule("DoesNotExist"), False)]:
            self.assertEqual(drain.matches(selector, {"a": "1"}), expected, selector)


class Archives(unittest.TestCase):
    def test_a_damaged_archive_is_not_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.tar").write_text("content")
            with self.assertRaisesRegex(images.Failed, "another checksum"):
                images.download(f"file://{folder}/a.tar", "0" * 64, folder + "/copy")

    def test_a_folder_without_archives_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "SHA256SUMS").write_text("00  bin/kubeadm\n00  images/etcd.tar\n")
            self.assertEqual(images.archives("file://" + folder, []), {"images/etcd.tar": "00"})
            with self.assertRaisesRegex(images.Failed, "lists no images"):
                images.archives("file://" + folder, ["images/etcd.tar"])
        with self.assertRaisesRegex(images.Failed, "can't be downloaded"):
            images.archives("file:///nonexistent", [])

    def test_each_archive_is_on_the_disk_before_the_next_one_is_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "images").mkdir()
            sums = []
            for name in ("images/a.tar", "images/b.tar"):
                (Path(folder) / name).write_text(name)
                sums.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
            (Path(folder) / "SHA256SUMS").write_text("".join(sums))
            done = []
            with unittest.mock.patch.object(images, "FOLDER", folder), unittest.mock.patch.object(images, "ctr", lambda verb, path: done.append(Path(path).read_text())), \
                    unittest.mock.patch.object(images, "write_out", lambda: done.append("write out")):
                images.install("file://" + folder, [], True)
                images.install("file://" + folder, [], False)
        self.assertEqual(done, ["images/a.tar", "write out", "images/b.tar", "write out", "images/a.tar", "images/b.tar"])

    def test_a_disk_that_fails_ends_the_import(self):
        with unittest.mock.patch.object(images, "FOLDER", "/"):
            images.write_out()
        with unittest.mock.patch.object(images, "FOLDER", "/does/not/exist"), self.assertRaisesRegex(images.Failed, "can't be written to the disk: .*No such file"):
            images.write_out()


class Network(unittest.TestCase):
    def test_a_node_without_addresses_yet_gets_no_route(self):
        self.assertEqual(network.parsed("ADDED m2 10.1.0.0/24 192.0.2.2\n"), ("ADDED", "m2", "10.1.0.0/24", "192.0.2.2"))
        self.assertEqual(network.parsed("ADDED m2  \n"), ("ADDED", "m2", "", ""))

    def test_only_routes_to_nodes_that_left_are_stale(self):
        routes = "".join(f"10.1.{n}.0/24 via 192.0.2.{n} dev eth0 \n" for n in (2, 3, 9))
        nodes = "m1 10.1.9.0/24 192.0.2.1\nm2 10.1.2.0/24 192.0.2.2\nm3  \n"
        # The node's own network was that of a node that has left.
        self.assertEqual(network.stale(routes, nodes, "m1"), ["10.1.3.0/24", "10.1.9.0/24"])

    def test_routes_stay_while_the_api_does_not_answer(self):
        done = []
        with (
            unittest.mock.patch.object(network, "succeeds", lambda *command: done.append(command) or True),
            unittest.mock.patch.object(network, "run", lambda *command: done.append(command)),
            unittest.mock.patch.object(network.signal, "signal"),
        ):
            self.assertEqual(network.main("m1", "10.1.0.0/16", "false"), 1)
        self.assertEqual([command for command in done if command[:2] == ("ip", "route")], [])


class Playbooks(unittest.TestCase):
    """With the real ansible, on machines that can't become a cluster: nothing is changed."""

    @classmethod
    def setUpClass(cls):
        class HasAll(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HasAll)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.server = f"127.0.0.1:{server.server_port}"

    def staged(self, playbook, *arguments, children="kube_control_plane: {hosts: {m1: {}}}, kube_node: {hosts: {m2: {}}}"):
        return self.run_of(playbook, *arguments, children=children).termination["failures"][0]["message"]

    def run_of(self, playbook, *arguments, children):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts + f"  children: {{{children}}}\n")
        run.builtin(playbook, args=("-e", f"dl_k8s_io_url=http://{self.server}", "-e", f"kube_image_repo={self.server}", *arguments)).run()
        self.assertNotEqual(run.rc, 0, run.text)
        self.assertFalse(run.of("host_result", result="changed"), run.text)
        return run

    def test_the_defaults_are_those_that_the_specification_documents(self):
        python = Path(ansible_bin(self)) / "python"
        code = "import json, sys, yaml; print(json.dumps([yaml.safe_load(open(path)) for path in sys.argv[1:]]))"
        paths = [ROLES / "variables/defaults/main.yml", ROLES / "variables/meta/argument_specs.yml"]
        said = subprocess.run([python, "-c", code, *paths], stdout=subprocess.PIPE, check=True).stdout
        defaults, specs = json.loads(said)
        options = specs["argument_specs"]["check"]["options"]
        self.assertEqual(defaults, {name: option["default"] for name, option in options.items()})

    def test_texts_get_the_type_of_their_variable(self):
        code = """if True:
            import importlib.util, json, sys
            spec = importlib.util.spec_from_file_location("variables", sys.argv[1])
            variables = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(variables)
            specs = {"on": {"type": "bool"}, "port": {"type": "int"}, "name": {"type": "str"}}
            given = [{"on": "false", "port": "6443", "name": "no"}, {"on": "yes", "port": "https"}, {"on": True, "port": 1}]
            print(json.dumps([variables.typed(values, specs) for values in given]))"""
        filters = ROLES / "variables/filter_plugins/cluster_problems.py"
        said = subprocess.run([Path(ansible_bin(self)) / "python", "-c", code, filters], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(json.loads(said), [{"on": False, "port": 6443, "name": "no"}, {"on": True, "port": "https"}, {"on": True, "port": 1}])

    def test_a_switch_that_a_text_turns_off_is_off(self):
        self.assertIn("It has the same address as", self.staged("cluster.yml", "-e", "kube_vip_enabled=false", "-e", "kube_apiserver_port=6443"))

    def test_machines_that_are_the_same_one_are_refused(self):
        self.assertIn("It has the same address as", self.staged("cluster.yml"))

    def test_a_thousand_other_hosts_are_left_alone(self):
        ghosts = ", ".join(f"ghost{number}: {{ansible_host: 198.51.100.1}}" for number in range(998))
        children = f"kube_control_plane: {{hosts: {{m1: {{}}}}}}, kube_node: {{hosts: {{m2: {{}}, {ghosts}}}}}"
        run = self.run_of("scale.yml", "--limit=m2", children=children)
        self.assertIn("There is no cluster on m1 yet.", run.termination["failures"][0]["message"])
        self.assertEqual({event["host"] for event in run.of("host_result")}, {"m2"}, run.text)

    def test_an_invalid_variable_is_refused(self):
        message = self.staged("cluster.yml", "-e", "kube_network_plugin=flannel")
        self.assertIn("kube_network_plugin must be one of: bridge, calico, cilium, got: flannel", message)

    def test_several_problems_are_counted(self):
        message = self.staged("precheck.yml", "-e", "kube_service_addresses=10.233.0.0/16", "-e", "kubelet_max_pods=300")
        self.assertRegex(message, r"^2 problems: .*overlap.* too few addresses.* No machine was changed\.$")
        # They share a network interface, too.
        message = self.staged("precheck.yml", "-e", "kube_image_repo=127.0.0.1:1/k8s")
        self.assertRegex(message, r"^m1: [0-9]+ problems: .* http://127\.0\.0\.1:1/v2/k8s/kube-proxy/manifests/v[0-9.]+ can't be downloaded: ")
        message = self.staged("precheck.yml", "-e", "kube_image_repo=127.0.0.1:1/k8s", "-e", '{"precheck_skip": ["image"]}')
        self.assertNotIn("127.0.0.1:1", message)
        self.assertNotIn("The clock is", message)

    def test_an_inventory_without_control_plane_is_refused(self):
        for playbook in ("cluster.yml", "scale.yml", "precheck.yml"):
            self.assertIn("kube_control_plane has no host", self.staged(playbook, children="kube_node: {hosts: {m1: {}}}"))

    def test_machines_join_only_hosted_clusters(self):
        workers = "kube_node: {hosts: {m1: {}, m2: {}}}"
        self.assertIn("join.yml is for hosted clusters", self.staged("join.yml", children=workers))
        hosted = '{"hosted_api": "127.0.0.1:1", "hosted_ca": "", "hosted_ca_key_hash": "", "hosted_token": ""}'
        self.assertIn("It has the same address as", self.staged("join.yml", "-e", hosted, children=workers))
        self.assertIn("Move them to kube_node", self.staged("join.yml", "-e", hosted))

    def test_control_planes_are_added_only_to_a_cluster(self):
        planes = "kube_control_plane: {hosts: {m1: {}, m2: {}, m3: {ansible_connection: local}}}"
        balancer = '{"loadbalancer_apiserver": {"address": "192.0.2.9", "port": 6443}}'
        for playbook in ("cluster.yml", "precheck.yml"):
            run = self.run_of(playbook, "--limit=m2,m3", "-e", balancer, children=planes)
            message = run.of("host_result", host="m2")[-1]["message"]
            self.assertEqual("There is no cluster on m1 yet. Run cluster.yml without a limit first." in message, playbook == "cluster.yml", message)
            # m1 is outside of the limit, and yet it is looked at.
            self.assertIn("It has the same address as m1", message)

    def test_a_control_plane_is_not_removed(self):
        self.assertIn("m1 is the only control plane", self.staged("remove-node.yml", "-e", "node=m1"))

    def test_a_reset_without_confirmation_is_refused(self):
        self.assertIn("reset_confirmation=yes", self.staged("reset.yml"))


if __name__ == "__main__":
    unittest.main()
