# SPDX-License-Identifier: Apache-2.0
"""What the playbooks of the engine judge without a machine: variables, groups, machines, removals, drains. The lab runs them for real."""

import http.server
import importlib.util
import json
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
from pathlib import Path

from staged_run import HERE, LOCAL, StagedRun, ansible_bin

ROLES = HERE / "playbooks/roles"


def module(path):
    """A module or filter of a role."""
    spec = importlib.util.spec_from_file_location(Path(path).stem.replace("-", "_"), ROLES / path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


variables = module("variables/filter_plugins/cluster_problems.py")
machines = module("precheck/filter_plugins/machine_problems.py")
removal = module("drain/filter_plugins/removal_problems.py")
drain = module("../library/drain_node.py")
images = module("images/library/image_archives.py")
state = module("../library/machine_state.py")
network = module("network_bridge/files/pod-network.py")
image_names = module("variables/filter_plugins/images.py")
downloads = module("variables/filter_plugins/downloads.py")

SYSTEMS = json.loads((HERE / "playbooks/systems.json").read_text())
VALUES = {"kube_version": "1.34.4", "kube_pods_subnet": "10.233.64.0/18", "kube_service_addresses": "10.233.0.0/18", "kube_network_node_prefix": 24,
          "kubelet_max_pods": 110, "kubelet_fail_swap_on": True, "kubelet_config_extra_args": {}, "kube_network_plugin": "bridge", "kube_apiserver_port": 6443}
DOWNLOAD = {"status": 200, "url": "http://files/kubeadm", "source": "files_repo"}
GROUPS = {"kube_control_plane": ["m1"], "kube_node": ["m2", "m3"], "etcd": ["m1"]}


def machine(address="192.0.2.11", **changes):
    return {"is_root": True, "system": "debian 12", "likes": ["debian"], "architecture": "amd64", "kernel": "6.1.0-40-amd64", "cpus": 2,
            "memory_mb": 4000, "swap_mb": 0, "cgroup": 2, "disk_free_mb": 9000, "clock": 1000, "address": address, "addresses": [address], "network": "192.0.2.0/24", "ports": [22],
            "kubeadm_runs": False, "state": "fresh", "installed": {}, "ca": "", "machine_id": address, "mac": address, **changes}


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
        wanted = {"first": "m1", "control_planes": ["m1"], "version": "v1.34.4", "now": 1000, "silent": [], "download": DOWNLOAD,
                  "needs_cluster": False, "systems": SYSTEMS["systems"], "judges_first": not wanted.get("needs_cluster"), **wanted}
        return " ".join(machines.machine_problems(all_machines, host, {**VALUES, **(values or {})}, wanted))

    def test_a_sound_machine_has_no_problem(self):
        self.assertEqual(self.problems(machine()), "")
        self.assertEqual(self.problems(member(), first=member("192.0.2.1")), "")

    def test_what_a_machine_lacks_is_named(self):
        for changes, expected in [
            ({"is_root": False}, "isn't root"),
            ({"likes": ["alpine"], "system": "alpine 3"}, "alpine 3"),
            ({"architecture": "s390x"}, "s390x"),
            ({"kernel": "3.10.0-1160"}, "3.10.0-1160"),
            ({"memory_mb": 512}, "512 MB of memory, and a node needs 1024 MB"),
            ({"disk_free_mb": 100}, "100 MB left"),
            ({"swap_mb": 2048}, "Swap is on (2048 MB)"),
            ({"clock": 940}, "60 s slow"),
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
        self.assertIn("a control plane needs 2", self.problems(machine(cpus=1), host="m1"))

    def test_systems_that_are_too_old_are_refused(self):
        debian, red_hat = ["debian"], ["rhel", "fedora"]
        for system, likes in [("debian 12", debian), ("debian 13", debian), ("ubuntu 22.04", debian), ("ubuntu 24.04", debian), ("rocky 9.4", red_hat),
                              ("almalinux 10.0", red_hat), ("linuxmint 22", debian), ("debian", debian)]:
            self.assertEqual(self.problems(machine(system=system, likes=likes)), "", system)
        for system, likes in [("debian 11", debian), ("ubuntu 20.04", debian), ("centos 7", red_hat), ("alpine 3.20", ["alpine"])]:
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
        self.assertIn("the same machine-id as m1", self.problems(machine(machine_id="192.0.2.1")))
        self.assertIn("the same hardware address as m1", self.problems(machine(mac="192.0.2.1")))
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

    def test_a_machine_of_another_cluster_is_refused(self):
        of_lab = {**member(), "installed": {**member()["installed"], "cluster": "lab"}}
        first = machine("192.0.2.1", ca="b")
        self.assertIn("a node of another cluster:", self.problems(member(), first=first, cluster="prod"))
        self.assertIn("a node of the cluster lab:", self.problems(of_lab, first=first, cluster="prod"))
        self.assertIn("a node of another cluster:", self.problems(of_lab, first=first, cluster="lab"), "of an older one with this name")

    def test_a_machine_joins_only_the_hosted_cluster_that_it_belongs_to(self):
        def problems(judged, silent=()):
            wanted = {"first": "", "control_planes": [], "version": "v1.34.4", "now": 1000, "silent": silent, "download": DOWNLOAD,
                      "systems": SYSTEMS["systems"], "hosted_ca": "a"}
            return " ".join(machines.machine_problems({"m1": judged}, "m1", VALUES, {**wanted, "needs_cluster": False, "judges_first": False}))

        self.assertEqual(problems(machine()) + problems(member()), "")
        self.assertIn("another cluster", problems({**member(), "ca": "b"}))
        self.assertIn("runs Kubernetes v1.33.1, and the control plane v1.34.4", problems(member(version="v1.33.1")))
        silent = [{"name": "the control plane", "address": "192.0.2.200", "port": 30443}]
        self.assertIn("no answer from the control plane at 192.0.2.200, port 30443", problems(machine(), silent))

    def test_a_server_without_the_programs_is_refused(self):
        refused = "Request failed: <urlopen error [Errno 111] Connection refused>"
        for status, reason in [(-1, refused), (404, "HTTP Error 404: Not Found")]:
            answer = {**DOWNLOAD, "status": status, "msg": f"Status code was {status} and not [200]: {reason}"}
            self.assertIn(f"http://files/kubeadm can't be downloaded: {reason}. Check files_repo and kube_version", self.problems(machine(), download=answer))
        nothing = {name: value for name, value in DOWNLOAD.items() if name != "status"}
        for answer in (nothing, {**DOWNLOAD, "status": 501}):
            self.assertEqual(self.problems(machine(), download=answer), "")

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
        found = state.look("/nonexistent", "")
        self.assertTrue(found["cpus"] > 0 and found["memory_mb"] > 0 and found["disk_free_mb"] > 0, found)
        self.assertEqual(found["versions"], dict.fromkeys(("kubeadm", "kubelet", "kubectl", "containerd", "runc"), ""))
        self.assertEqual((found["runtime_programs"], found["containerd_ours"]), ([], False))
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
        cls.downloads = f"http://127.0.0.1:{server.server_port}"

    def staged(self, playbook, *arguments, children="kube_control_plane: {hosts: {m1: {}}}, kube_node: {hosts: {m2: {}}}"):
        return self.run_of(playbook, *arguments, children=children).termination["failures"][0]["message"]

    def run_of(self, playbook, *arguments, children):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts + f"  children: {{{children}}}\n")
        run.builtin(playbook, args=(*arguments, "-e", f"dl_k8s_io_url={self.downloads}")).run()
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
        self.assertRegex(self.staged("precheck.yml"), r"^m1: [0-9]+ problems: ")

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
