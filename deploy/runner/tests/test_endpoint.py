# SPDX-License-Identifier: Apache-2.0
"""The address that several control planes share: which ones are refused, and what keepalived is told. The lab moves it between real machines."""

import itertools
import os
import re
import subprocess
import sys
import unittest

from staged_run import skip
from test_engine import GROUPS, ROLES, SYSTEMS, VALUES, machine, machines, member, module, variables
from test_network import Rendered

address_user = module("../library/address_user.py")
api_is_ready = module("endpoint/files/api-is-ready.py")

THREE = {**GROUPS, "kube_control_plane": ["m1", "m2", "m3"], "etcd": []}
ON = {"kube_vip_enabled": True, "kube_vip_address": "192.0.2.10"}


class Variables(unittest.TestCase):
    def problems(self, **values):
        return " ".join(variables.endpoint_problems({**VALUES, **values}, THREE))

    def test_several_control_planes_may_share_an_address(self):
        self.assertEqual(self.problems(**ON), "")
        self.assertIn("Set kube_vip_enabled: true", self.problems())

    def test_addresses_that_cannot_work_are_refused(self):
        for bad in ("", "api.example", "fd00::1", "192.0.2.10/24"):
            self.assertIn("unused IPv4 address", self.problems(**{**ON, "kube_vip_address": bad}), bad)
        self.assertIn("is in kube_pods_subnet 10.233.64.0/18", self.problems(**{**ON, "kube_vip_address": "10.233.64.9"}))

    def test_another_load_balancer_is_refused(self):
        self.assertEqual(self.problems(**ON, loadbalancer_apiserver={"address": "192.0.2.10", "port": 6443}), "")
        for other in ({"address": "192.0.2.99"}, {"address": "192.0.2.10", "port": 8443}):
            self.assertIn("names another address or port", self.problems(**ON, loadbalancer_apiserver=other))


class Machines(unittest.TestCase):
    def problems(self, judged=None, host="m1", first=None, user="", address="192.0.2.10"):
        all_machines = {"m1": first or machine("192.0.2.1"), "m2": machine("192.0.2.2")}
        all_machines[host] = judged or all_machines[host]
        wanted = {"first": "m1", "control_planes": ["m1"], "version": "v1.34.4", "now": 1000, "silent": [], "needs_cluster": False, "systems": SYSTEMS["systems"], "address_user": user}
        return " ".join(machines.machine_problems(all_machines, host, {**VALUES, **ON, "kube_vip_address": address}, wanted))

    def test_the_address_must_be_free_and_in_the_network(self):
        self.assertEqual(self.problems(), "")
        self.assertIn("is not in the machine's network 192.0.2.0/24", self.problems(address="198.51.100.10"))
        self.assertEqual(self.problems(host="m2", address="198.51.100.10"), "", "workers only connect to it")
        self.assertIn("Its own address is kube_vip_address", self.problems(host="m2", address="192.0.2.2"))
        self.assertIn("is already used by a machine with the hardware address 02:00", self.problems(user="02:00:00:00:00:07"))

    def test_a_control_plane_may_have_it_already(self):
        has_it = machine("192.0.2.1", state="interrupted", addresses=["192.0.2.1", "192.0.2.10"])
        self.assertEqual(self.problems(judged=has_it, user="02:00:00:00:00:07"), "")
        self.assertEqual(self.problems(first=member("192.0.2.1", kube_vip_enabled=True), user="02:00:00:00:00:07"), "")

    def test_it_cannot_be_turned_on_later(self):
        first = member("192.0.2.1")
        self.assertIn("kube_vip_enabled is True, but the cluster was created with False", self.problems(judged=first, first=first))


class Keepalived(Rendered):
    def configuration(self, **variables):
        known = {"endpoint_interface": "eth0", "endpoint_peers": ["192.0.2.2", "192.0.2.3"], "cluster_folder": "/etc/kubernetes/kubeonkube",
                 "machine": {"address": "192.0.2.1", "python": "/usr/bin/python3"}}
        return self.rendered("endpoint", "keepalived.conf.j2", **{**ON, **known, **variables}).read_text()

    def test_it_is_told_the_address_and_the_peers(self):
        found = self.configuration()
        for line in ("virtual_router_id 10", "192.0.2.10/32 dev eth0", "unicast_src_ip 192.0.2.1", "    192.0.2.3\n"):
            self.assertIn(line, found)
        self.assertEqual(found.count("{"), found.count("}"))

    def test_who_has_the_address(self):
        """One with a ready API server; of those, the one that has it; otherwise the first one. No two ever have the same priority."""
        for count, places in ((1, [0]), (3, [0, 1, 2]), (7, [0, 5, 6])):
            planes = []
            for n in places:
                names = [f"cp{other}" for other in range(count)]
                names[n] = "m1"
                found = self.configuration(planes=names)
                priority, ready, has_address = (int(re.search(pattern, found, re.DOTALL).group(1)) for pattern in (
                    r"\n  priority (\d+)\n", r"api_is_ready \{.*?\n  weight (\d+)\n", r"has_address \{.*?\n  weight (\d+)\n"))
                planes.append([priority, priority + has_address, priority + ready, priority + ready + has_address])
            self.assertEqual([plane[0] for plane in planes], sorted({plane[0] for plane in planes}, reverse=True))
            for worse, better in itertools.pairwise(zip(*planes)):
                self.assertLess(max(worse), min(better))
            self.assertTrue(0 < planes[-1][0] and planes[0][3] < 255, planes)
            self.assertEqual(re.findall(r"^    (api_is_ready|has_address)$", found, re.MULTILINE), ["api_is_ready", "has_address"])

    def test_one_control_plane_has_no_peers(self):
        self.assertNotIn("unicast", self.configuration(endpoint_peers=[]))
        self.assertIn("virtual_router_id 255", self.configuration(kube_vip_address="192.0.2.0"))


class Probes(unittest.TestCase):
    def test_an_api_server_that_does_not_answer_is_not_ready(self):
        self.assertFalse(api_is_ready.is_ready(1))

    def test_a_control_plane_that_is_about_to_be_upgraded_gives_the_address_away(self):
        """The mark is what the role leaves, and the check reads it before it asks the API server."""
        self.assertIn(f"endpoint_mark: {api_is_ready.AWAY}\n", (ROLES / "endpoint/vars/main.yml").read_text())
        script = (ROLES / "endpoint/files/api-is-ready.py").read_text()
        for mark, expected in (("/", 1), ("/does/not/exist", 0)):
            changed = script.replace(api_is_ready.AWAY, mark).replace("    sys.exit", "    is_ready = lambda port: True\n    sys.exit")
            self.assertEqual(subprocess.run([sys.executable, "-c", changed, "6443"], check=False).returncode, expected, mark)

    def test_what_the_kernel_knows_of_a_neighbour_is_read(self):
        self.assertIsNone(address_user.parsed("[]"))
        self.assertIsNone(address_user.parsed('[{"dst": "192.0.2.9", "state": ["INCOMPLETE"]}]'))
        self.assertEqual(address_user.parsed('[{"dst": "192.0.2.9", "state": ["FAILED"]}]'), "")
        self.assertEqual(address_user.parsed('[{"dst": "192.0.2.9", "lladdr": "02:00:00:00:00:07", "state": ["REACHABLE"]}]'), "02:00:00:00:00:07")

    def test_a_used_address_is_told_from_a_free_one(self):
        """Two network namespaces, connected by a cable."""
        setup = """
            ip link add here type veth peer name there address 02:00:00:00:00:07
            unshare --net sleep 60 & other=$!; trap "kill $other" EXIT
            until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
            ip link set there netns $other
            nsenter --target $other --net sh -c 'ip address add 10.9.0.2/24 dev there && ip link set there up'
            ip address add 10.9.0.1/24 dev here && ip link set here up
            "$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1]); import address_user as a; print(a.user("10.9.0.2"), a.user("10.9.0.3") or "free")' "$LIBRARY"
        """
        environment = {**os.environ, "PYTHON": sys.executable, "LIBRARY": str(ROLES.parent / "library")}
        done = subprocess.run(["unshare", "--net", "sh", "-ec", setup], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if os.geteuid() != 0:
            skip(self, "a network namespace can't be made, which needs root")
        self.assertEqual(done.stdout.strip(), "02:00:00:00:00:07 free", done.stderr)


if __name__ == "__main__":
    unittest.main()
