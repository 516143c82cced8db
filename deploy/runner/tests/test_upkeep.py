# SPDX-License-Identifier: Apache-2.0
"""Kubeconfig, state, backups and certificates of a cluster: what the playbooks judge and deliver without a machine. The lab runs them for real."""

import base64
import hashlib
import io
import json
import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from staged_run import HERE, LOCAL, StagedRun, ansible_bin
from test_engine import module
from test_proxy import Served

etcd = module("../library/etcd_cluster.py")
cluster_state = module("../library/cluster_state.py")
information = module("cluster_info/filter_plugins/cluster_information.py")
certificate = module("certificates/library/api_uses_certificate.py")

NODE = {"metadata": {"name": "m1", "labels": {"node-role.kubernetes.io/control-plane": ""}, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"unschedulable": True},
        "status": {"nodeInfo": {"kubeletVersion": "v1.34.4", "containerRuntimeVersion": "containerd://1.6.20"},
                   "conditions": [{"type": "Ready", "status": "False", "message": "cni plugin not initialized"}],
                   "addresses": [{"type": "InternalIP", "address": "192.0.2.11"}]}}
KEY = "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ=="


def programs(test, **scripts):
    """A folder with these programs instead of Kubernetes' own."""
    folder = Path(tempfile.mkdtemp(prefix="kubeonkube-programs-"))
    test.addCleanup(subprocess.run, ["rm", "-r", str(folder)], check=True)
    for name, script in scripts.items():
        (folder / name).write_text("#!/bin/sh\n" + script + "\n")
        (folder / name).chmod(0o755)
    return folder


class Snapshots(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kubeonkube-snapshots-")
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder], check=True)
        self.content = b"data" * 100
        self.addCleanup(setattr, etcd, "post", etcd.post)

    def answer(self, *blocks):
        lines = [json.dumps({"result": {"blob": base64.b64encode(block).decode()}}).encode() + b"\n" for block in blocks]
        etcd.post = lambda *_: io.BytesIO(b"".join(lines))

    def test_a_snapshot_is_saved_with_its_checksum(self):
        digest = hashlib.sha256(self.content).digest()
        self.answer(self.content[:7], self.content[7:], digest)
        saved = etcd.snapshot(self.folder, 5)
        self.assertEqual(saved["bytes"], 432)
        self.assertEqual(saved["sha256"], hashlib.sha256(self.content + digest).hexdigest())
        self.assertEqual(etcd.verify(saved["file"])["sha256"], saved["sha256"])
        self.assertEqual(stat.S_IMODE(os.stat(saved["file"]).st_mode), 0o600)
        said = subprocess.run(["sha256sum", "--check", saved["file"] + ".sha256"], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        self.assertIn(b"OK", said.stdout)

    def test_an_incomplete_snapshot_is_not_kept(self):
        self.answer(self.content)
        with self.assertRaisesRegex(etcd.Failed, "no complete snapshot"):
            etcd.snapshot(self.folder, 5)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_changed_snapshot_is_refused(self):
        digest = hashlib.sha256(self.content).digest()
        file = Path(self.folder) / "etcd-1.db"
        file.write_bytes(self.content + digest)
        Path(f"{file}.sha256").write_text("0" * 64 + "  etcd-1.db\n")
        with self.assertRaisesRegex(etcd.Failed, "another checksum than"):
            etcd.verify(str(file))
        with self.assertRaisesRegex(etcd.Failed, "can't be read"):
            etcd.verify(str(file) + ".gone")

    def test_a_snapshot_of_another_cluster_is_refused(self):
        file, ours, other = (Path(self.folder) / name for name in ("etcd-1.db", "ca.crt", "other.crt"))
        file.write_bytes(b"\0kube-root-ca.crt\x12-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n\x1a\0")
        ours.write_text("-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n")
        other.write_text("-----BEGIN CERTIFICATE-----\nTUlK\n-----END CERTIFICATE-----\n")
        etcd.check_authority(str(file), str(ours))
        with self.assertRaisesRegex(etcd.Failed, "a snapshot of another cluster"):
            etcd.check_authority(str(file), str(other))
        with self.assertRaisesRegex(etcd.Failed, "gone.crt can't be read"):
            etcd.check_authority(str(file), str(Path(self.folder) / "gone.crt"))

    def test_only_the_newest_snapshots_are_kept(self):
        for day in (1, 2, 3):
            for end in (".db", ".db.sha256"):
                (Path(self.folder) / f"etcd-2026010{day}T000000Z{end}").write_text("old")
        (Path(self.folder) / "other.db").write_text("not ours")
        self.answer(self.content, hashlib.sha256(self.content).digest())
        saved = etcd.snapshot(self.folder, 2)
        self.assertEqual(saved["removed"], ["etcd-20260101T000000Z.db", "etcd-20260102T000000Z.db"])
        self.assertEqual(len(os.listdir(self.folder)), 5)

    def test_a_member_that_is_away_is_named(self):
        def answer(server, path, body=None):
            if path == "maintenance/alarm":
                return {"alarms": [{"memberID": "1", "alarm": "NOSPACE"}]}
            if path == "cluster/member/list":
                return {"members": [{"ID": "2", "name": "m2", "clientURLs": ["https://m2"]}, {"ID": "1", "name": "m1", "clientURLs": ["https://m1"]}]}
            if server == "https://m2":
                raise etcd.Failed("etcd at https://m2 doesn't answer")
            return {"version": "3.6.5", "dbSize": "4096", "leader": "1"}

        self.addCleanup(setattr, etcd, "ask", etcd.ask)
        etcd.ask = answer
        first, second = etcd.members()
        self.assertEqual((first["name"], first["leader"], first["db_bytes"], first["alarms"], first["healthy"]), ("m1", True, 4096, ["NOSPACE"], False))
        self.assertEqual((second["healthy"], second["message"]), (False, "etcd at https://m2 doesn't answer"))


class State(unittest.TestCase):
    def test_a_node_is_described(self):
        row = cluster_state.node(NODE)
        self.assertEqual((row["roles"], row["ready"], row["schedulable"], row["version"]), (["control-plane"], False, False, "v1.34.4"))
        self.assertEqual(row["message"], "cni plugin not initialized")

    def test_versions_of_components_come_from_their_images(self):
        pod = {"kind": "Pod", "metadata": {"name": "kube-apiserver-m1", "labels": {"tier": "control-plane", "component": "kube-apiserver"}},
               "spec": {"nodeName": "m1", "containers": [{"image": "registry:5000/kube-apiserver:v1.34.4"}]}}
        proxy = {"kind": "DaemonSet", "metadata": {"name": "kube-proxy"}, "spec": {"template": {"spec": {"containers": [{"image": "x/kube-proxy"}]}}}}
        self.assertEqual(cluster_state.components([proxy, pod]), [{"name": "kube-apiserver", "node": "m1", "version": "v1.34.4"},
                                                                  {"name": "kube-proxy", "node": "", "version": ""}])

    def test_an_api_that_is_away_is_reported_not_failed(self):
        folder = programs(self, kubectl="echo refused >&2; exit 1", kubeadm='echo \'{"certificates": [{"name": "apiserver", "expirationDate": "2027-01-01T00:00:00Z"}]}\'')
        run = self.staged("cluster-info.yml", "-e", f"bin_dir={folder}", "--limit=m1")
        self.assertEqual(run.rc, 0, run.text)
        [outcome] = run.of("outcome")
        self.assertEqual(outcome["key"], "cluster")
        self.assertIn("The Kubernetes API doesn't answer: refused", outcome["value"]["message"])
        self.assertEqual((outcome["value"]["etcd"]["healthy"], outcome["value"]["nodes"]), (False, []))
        self.assertEqual(outcome["value"]["certificates"], [{"node": "m1", "name": "apiserver", "expires": "2027-01-01T00:00:00Z"}])
        self.assertIn("Certificates of m1: the first, apiserver, expires 2027-01-01T00:00:00Z", run.text)

    def test_a_control_plane_that_is_busy_is_asked_again(self):
        folder = programs(self, kubectl=f"""case "$*" in
            *nodes*) echo '{json.dumps({"items": [NODE]})}' ;;
            */readyz*) [ -e "$0.asked" ] && echo ok && exit; touch "$0.asked"; echo timed out >&2; exit 1 ;;
            *) echo '{json.dumps({"items": [], "gitVersion": "v1.34.4"})}' ;; esac""")
        apis = lambda patience: cluster_state.read([str(folder / "kubectl")], 6443, patience)["apis"]  # noqa: E731
        self.assertEqual(apis(0), [{"node": "m1", "healthy": False, "message": "timed out"}])
        (folder / "kubectl.asked").unlink()
        self.assertEqual(apis(120), [{"node": "m1", "healthy": True, "message": ""}])

    def test_a_healthy_cluster_is_summarised(self):
        member = {"name": "m1", "healthy": True, "leader": True, "version": "3.6.5", "db_bytes": 2097152, "alarms": [], "message": ""}
        cluster = {"version": "v1.34.4", "message": "", "nodes": [cluster_state.node(NODE)], "components": [],
                   "apis": [{"node": "m1", "healthy": True, "message": ""}]}
        lines = information.cluster_summary(information.cluster_information(cluster, {"members": [member]}, {"m1": "not json"}))
        self.assertEqual(lines[1], "Node m1: v1.34.4, not Ready: cni plugin not initialized, takes no new pods")
        self.assertEqual(lines[2:], ["API server m1: healthy", "etcd m1: 3.6.5, healthy, leader, 2.0 MiB"])

    def staged(self, playbook, *arguments):
        run = StagedRun(self, {"m1": LOCAL})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts + "  children: {kube_control_plane: {hosts: {m1: {}, away: {}}}, kube_node: {hosts: {}}}\n")
        return run.builtin(playbook, args=arguments).run()

    def test_a_machine_without_cluster_is_refused(self):
        for playbook, arguments, expected in [
            ("renew-certs.yml", (), "runs no Kubernetes API"),
            ("etcd-backup.yml", ("-e", "etcd_backup_prefix=/nonexistent/backups"), "etcd at https://127.0.0.1:2379 doesn't answer"),
            ("kubeconfig.yml", (), "KUBEONKUBE_SECRET_RESULT is not set"),
        ]:
            with self.subTest(playbook):
                run = self.staged(playbook, *arguments)
                self.assertNotEqual(run.rc, 0, run.text)
                self.assertIn(expected, run.termination["failures"][0]["message"])
                self.assertFalse(run.of("host_result", result="changed"), run.text)


# In place of the module: a snapshot is saved, or in check mode the task is skipped.
SAVED = """
from ansible.module_utils.basic import AnsibleModule

options = {"do": {"type": "str"}, "folder": {"type": "path"}, "keep": {"type": "int"}}
AnsibleModule(argument_spec=options).exit_json(changed=True, file="/b/etcd-1.db", bytes=12, sha256="ab", removed=[])
"""


class Published(unittest.TestCase):
    def run_playbook(self, *arguments):
        run = StagedRun(self, {"m1": LOCAL})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts + "  children: {kube_control_plane: {hosts: {m1: }}}\n")
        run.write("kubespray/library/etcd_cluster.py", SAVED)
        run.builtin("etcd-backup.yml", args=("-e", "ansible_become=false", *arguments)).run()
        self.assertEqual(run.rc, 0, run.text)
        return [(outcome["key"], outcome["value"]) for outcome in run.of("outcome")]

    def test_a_saved_snapshot_is_a_result_of_the_run(self):
        saved = {"machine": "m1", "file": "/b/etcd-1.db", "bytes": 12, "sha256": "ab"}
        self.assertEqual(self.run_playbook(), [("snapshot", saved)])

    def test_a_check_saves_and_publishes_none(self):
        self.assertEqual(self.run_playbook("--check"), [])


class Kubeconfig(unittest.TestCase):
    def run_playbook(self, folder, **scripts):
        bin_dir = programs(self, kubectl="echo ClusterConfiguration", **scripts)
        inventory = bin_dir / "hosts.yml"
        inventory.write_text("all: {children: {kube_control_plane: {hosts: {m1: {ansible_connection: local}}}}}\n")
        ansible = Path(ansible_bin(self))
        done = subprocess.run(
            [ansible / "ansible-playbook", "-i", inventory, "-e", f"bin_dir={bin_dir}", "-vvvv", "--diff", HERE / "playbooks/kubeconfig.yml"],
            env={"PATH": f"{ansible}:/usr/local/bin:/usr/bin:/bin", "HOME": str(bin_dir), "LANG": "C.UTF-8", "KUBEONKUBE_SECRET_RESULT": str(folder),
                 "ANSIBLE_CONFIG": str(HERE / "playbooks/ansible.cfg")},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_it_is_delivered_and_never_printed(self):
        folder = Path(tempfile.mkdtemp(prefix="kubeonkube-result-"))
        self.addCleanup(subprocess.run, ["rm", "-r", str(folder)], check=True)
        code, said = self.run_playbook(folder, kubeadm=f"cat >/dev/null; echo 'client-key-data: {KEY}'")
        self.assertEqual(code, 0, said)
        self.assertEqual((folder / "kubeconfig").read_text(), f"client-key-data: {KEY}\n")
        self.assertEqual(stat.S_IMODE(os.stat(folder / "kubeconfig").st_mode), 0o600)
        self.assertEqual(os.listdir(folder), ["kubeconfig"])
        self.assertNotIn(KEY, said)
        self.assertNotIn(base64.b64encode(KEY.encode()).decode()[:40], said)

    def test_a_kubeadm_that_fails_is_quoted(self):
        code, said = self.run_playbook("/dev/null/gone", kubeadm="echo 'no CA key' >&2; exit 1")
        self.assertNotEqual(code, 0)
        self.assertIn("kubeadm says: no CA key", said)

    def test_a_folder_that_is_gone_is_reported(self):
        code, said = self.run_playbook("/dev/null/gone", kubeadm=f"cat >/dev/null; echo '{KEY}'")
        self.assertNotEqual(code, 0)
        self.assertIn("could not be written into the folder of secret results", said)
        self.assertNotIn(KEY, said)


class Certificates(unittest.TestCase):
    def test_only_the_first_certificate_of_a_file_counts(self):
        pem = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"
        self.assertEqual(certificate.der(pem + pem.replace("QUJD", "REVG")), b"ABC")


class LeaderElection(Served):
    """The role `leader_election`, with a kubectl that prints leases."""

    def wait(self, kubectl, **variables):
        bin_dir = programs(self, kubectl=kubectl)
        tasks = [{"name": "Wait", "ansible.builtin.include_role": {"name": "leader_election"}}]
        waits = {"leader_election_interval": 0.01, "leader_election_retries": 1}
        return self.play(tasks, bin_dir=str(bin_dir), **{**waits, **variables})

    def test_both_must_renew_their_leases(self):
        code, said = self.wait("date '+kube-controller-manager %N'; date '+kube-scheduler %N'")
        self.assertEqual(code, 0, said)

    def test_a_lease_that_stays_is_named(self):
        code, said = self.wait("echo kube-controller-manager 12:00; date '+kube-scheduler %N'; echo refused >&2")
        self.assertNotEqual(code, 0)
        self.assertIn("don't both renew their leases. Seen: kube-controller-manager 12:00, kube-scheduler ", said)
        self.assertIn(". refused See", said)

    def test_without_leader_election_nothing_is_awaited(self):
        code, said = self.wait("exit 1", leader_election_interval=0)
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
