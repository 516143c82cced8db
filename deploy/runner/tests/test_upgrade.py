# SPDX-License-Identifier: Apache-2.0
"""Which upgrades, removals of control planes and restores are refused, and why. The lab runs the others for real."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from staged_run import LOCAL, StagedRun, ansible_bin
from test_engine import GROUPS, ROLES, machines, member, module, removal, VALUES

upgrade = module("upgrade/filter_plugins/upgrade_problems.py")
etcd_image_tag = module("upgrade/library/etcd_image_tag.py")


def node(name, version="v1.33.1", **changes):
    return {"name": name, "ready": True, "message": "", "schedulable": True, "version": version, **changes}


class Upgrade(unittest.TestCase):
    def problems(self, host="m2", target="v1.34.4", hosts=("m1", "m2"), nodes=(), apis=(), message="", **changes):
        found = {name: {"machine": {**member(version="v1.33.1"), "upgrading": {}, **(changes if name == host else {})}} for name in ("m1", "m2")}
        cluster = {"message": message, "nodes": [*nodes] or [node("m1"), node("m2")], "apis": [*apis]}
        return " ".join(upgrade.upgrade_problems(found, host, cluster, target, ["m1"], list(hosts)))

    def test_the_next_minor_and_later_patches_are_accepted(self):
        for target in ("v1.34.4", "v1.33.9", "v1.33.1"):
            self.assertEqual(self.problems(target=target), "", target)

    def test_versions_that_cannot_be_reached_are_refused(self):
        self.assertIn("can't be downgraded: set kube_version to 1.33.1 or newer", self.problems(target="v1.32.9"))
        self.assertIn("Upgrade to 1.34 first", self.problems(target="v1.35.0"))
        self.assertIn("Its kubelet has Kubernetes v1.32.1", self.problems(nodes=[node("m1"), node("m2", version="v1.32.1")]))

    def test_a_cluster_that_is_not_well_is_refused(self):
        ill = node("m2", ready=False, message="disk pressure")
        self.assertIn("not ready: disk pressure", self.problems(nodes=[node("m1"), ill]))
        self.assertIn("needs a working control plane", self.problems(message="The Kubernetes API doesn't answer: refused"))
        self.assertIn("is no node of the cluster", self.problems(state="fresh"))
        self.assertIn("is no node of the cluster", self.problems(nodes=[node("m1")]))
        silent = [{"node": "m3", "healthy": False, "message": "refused"}, {"node": "m4", "healthy": False, "message": ""}]
        self.assertIn("The Kubernetes API of m3 (refused), m4 is not healthy", self.problems(host="m1", apis=silent))

    def test_an_interrupted_upgrade_may_continue_on_its_node(self):
        away = node("m2", ready=False, version="v1.34.4")
        self.assertEqual(self.problems(nodes=[node("m1"), away], upgrading={"was_schedulable": False}), "")

    def test_workers_come_after_the_control_plane(self):
        self.assertIn("The control plane comes first, and m1 is not part of this run", self.problems(hosts=["m2"]))

    def test_a_node_that_took_no_pods_before_takes_none_afterwards(self):
        nodes = [node("m1"), node("m2", schedulable=False)]
        self.assertEqual([upgrade.upgrade_schedulable(nodes, name, {}) for name in ("m1", "m2")], [True, False])
        # Cordoned by an interrupted upgrade.
        self.assertTrue(upgrade.upgrade_schedulable(nodes, "m2", {"was_schedulable": True}))

    def test_only_what_is_left_is_upgraded(self):
        runtime = {"containerd": "v2.3.4", "runc": "1.4.3"}
        new = {**member(version="v1.34.4"), "versions": runtime}
        found = {"m1": {"machine": new, "upgrade_done": True}, "m2": {"machine": member(version="v1.33.1")},
                 "m3": {"machine": {**new, "upgrading": {"was_schedulable": True}}}, "m4": {"machine": {**new, "versions": {**runtime, "runc": "1.3.0"}}}}
        self.assertEqual(upgrade.upgrade_pending(["m1", "m2", "m3", "m4"], found, "v1.34.4", runtime), ["m2", "m3", "m4"])
        self.assertEqual(upgrade.upgrade_progress(found, ["m1", "m2", "m2"], "v1.34.4"), "m1: v1.34.4; m2: v1.33.1.")

    def test_the_check_of_machines_lets_an_upgrade_change_the_version(self):
        first = member(version="v1.33.1")
        wanted = {"first": "m1", "control_planes": ["m1"], "version": "v1.34.4", "now": 1000, "silent": [], "needs_cluster": False, "systems": []}
        judge = lambda **more: machines.machine_problems({"m1": first}, "m1", VALUES, {**wanted, **more})  # noqa: E731
        self.assertTrue(judge())
        self.assertEqual(judge(upgrades=True), [])


class Etcd(unittest.TestCase):
    KNOWN = [{"minor": "1.36", "components": {"etcd": "3.6.11-0"}}, {"minor": "1.37", "components": {"etcd": "3.7.0-0"}}]
    CONFIGURATION = "dns: {}\netcd:\n  local:\n    dataDir: /var/lib/etcd\n    imageTag: 3.6.11-0\nimageRepository: registry.example\nkind: ClusterConfiguration\n"

    def test_a_member_that_is_too_old_for_the_new_minor_version_is_refused(self):
        problems = lambda version, target="v1.37.2": upgrade.etcd_problems([{"name": "m1", "version": version}], self.KNOWN, target)  # noqa: E731
        [problem] = problems("3.6.8")
        self.assertIn("etcd of m1 is 3.6.8, and etcd 3.7 of Kubernetes v1.37.2 needs 3.6.11 or newer before", problem)
        self.assertEqual(problems("3.6.11") + problems("3.7.0") + problems("3.6.8", "v1.36.4") + problems("3.6.8", "v1.38.0"), [])

    def test_the_new_tag_replaces_the_old_one(self):
        found = etcd_image_tag.with_tag(self.CONFIGURATION, "3.7.0-0")
        self.assertEqual(found, self.CONFIGURATION.replace("3.6.11-0", "3.7.0-0"))
        self.assertEqual(etcd_image_tag.with_tag(found, "3.7.0-0"), found)

    def test_a_configuration_without_tag_gets_one(self):
        without = self.CONFIGURATION.replace("    imageTag: 3.6.11-0\n", "")
        self.assertEqual(etcd_image_tag.with_tag(without, "3.6.11-0"), self.CONFIGURATION)

    def test_an_external_etcd_is_refused(self):
        with self.assertRaisesRegex(etcd_image_tag.Failed, "describes no local etcd"):
            etcd_image_tag.with_tag("etcd:\n  external:\n    endpoints: []\n", "3.7.0-0")


class ControlPlanes(unittest.TestCase):
    GROUPS = {**GROUPS, "kube_control_plane": ["m1", "m2", "m3"], "etcd": ["m1", "m2", "m3"], "kube_node": ["w1"]}

    def problems(self, *nodes, ill=()):
        members = [{"name": name, "id": name, "healthy": name not in ill} for name in ("m1", "m2", "m3")]
        return " ".join(removal.removal_problems(list(nodes), self.GROUPS, members))

    def test_a_control_plane_is_removed_while_etcd_keeps_its_quorum(self):
        self.assertEqual(self.problems("m3") + self.problems("m2", "m3") + self.problems("m3", ill=["m3"]), "")
        self.assertIn("lose its quorum: 1 of the 2 members that stay would be healthy", self.problems("m3", ill=["m2"]))
        self.assertIn("Not healthy now: m2, m3", self.problems("m3", ill=["m2", "m3"]))

    def test_an_etcd_that_does_not_answer_is_no_quorum(self):
        self.assertIn("lose its quorum", " ".join(removal.removal_problems(["m3"], self.GROUPS, [])))

    def test_the_first_and_the_last_control_plane_stay(self):
        self.assertIn("m1 is the first control plane of the inventory", self.problems("m1"))
        self.assertIn("use reset.yml", self.problems("m1", "m2", "m3"))


class Restore(unittest.TestCase):
    def refused(self, *arguments):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts + "  children: {kube_control_plane: {hosts: {m1: {}, m2: {}}}}\n")
        run.builtin("etcd-restore.yml", args=arguments).run()
        self.assertNotEqual(run.rc, 0, run.text)
        self.assertFalse(run.of("host_result", result="changed"), run.text)
        return run.termination["failures"][0]["message"]

    def test_a_restore_needs_a_snapshot_a_confirmation_and_all_members(self):
        file, confirmation = ("-e", "etcd_restore_file=/nonexistent/etcd.db"), ("-e", "etcd_restore_confirmation=yes")
        self.assertIn("etcd_restore_confirmation=yes", self.refused(*file))
        self.assertIn("etcd_restore_file=PATH on m1", self.refused(*confirmation))
        self.assertIn("without --limit", self.refused(*file, *confirmation, "--limit=m1"))
        self.assertIn("runs no control plane", self.refused(*file, *confirmation))


class Imports(unittest.TestCase):
    def test_only_members_of_etcd_import_images_one_after_the_other(self):
        folder = Path(tempfile.mkdtemp(prefix="kubeonkube-imports-"))
        self.addCleanup(shutil.rmtree, folder)

        def hosts(**states):
            return {"hosts": {name: {"ansible_connection": "local", "machine": {"state": state}} for name, state in states.items()}}

        inventory = {"kube_control_plane": hosts(m1="member", m2="member", m3="fresh"), "kube_node": hosts(w1="member", w2="member")}
        (folder / "hosts.yml").write_text(json.dumps({"all": {"children": inventory}}))
        # Without files_repo, nothing is imported.
        play = {"hosts": "all", "gather_facts": False, "tasks": [{"name": "Import", "ansible.builtin.include_role": {"name": "images"}}]}
        (folder / "play.yml").write_text(json.dumps([play]))
        ansible = Path(ansible_bin(self))
        done = subprocess.run([ansible / "ansible-playbook", "-i", folder / "hosts.yml", folder / "play.yml"], text=True, check=False,
                              env={"PATH": f"{ansible}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "ANSIBLE_ROLES_PATH": str(ROLES), "ANSIBLE_DEBUG": "1"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        for task in ("images : Import the images", "network : Import the images of the network plugin"):
            self.assertEqual(done.stdout.count(f" task: {task}, throttle: 1\n"), 2, task)


if __name__ == "__main__":
    unittest.main()
