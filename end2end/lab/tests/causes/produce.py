# SPDX-License-Identifier: Apache-2.0
"""Makes the real programs fail on the lab's machines, and compares what the run page would say with the causes that it should say.

The playbooks beside this file name each failing task, or the host, after its cause. The messages are those of our callback plugin.
"""

import json
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "deploy/runner/tests"))

from staged_run import LOCAL, StagedRun  # noqa: E402

# How long a playbook may take on a busy computer.
RUN_WITHIN_SECONDS = 600
# What is wrong with a machine, and the command that puts it right again. The engine's own checks find it.
PRECHECKS = {
    "swap": ("sed 's/^SwapTotal:.*/SwapTotal: 2097148 kB/' /proc/meminfo > /run/meminfo; mount --bind /run/meminfo /proc/meminfo", "umount /proc/meminfo"),
    "too-little-memory": ("sed 's/^MemTotal:.*/MemTotal: 900000 kB/' /proc/meminfo > /run/meminfo; mount --bind /run/meminfo /proc/meminfo", "umount /proc/meminfo"),
    "system-unsupported": ("echo 'ID=plan9' > /run/os-release; mount --bind /run/os-release /etc/os-release", "umount /etc/os-release"),
    "port-in-use": ("sh /root/causes/start.sh port 'curl -s 127.0.0.1:10250' python3 -m http.server 10250 --directory /mnt", "sh /root/causes/stop.sh port"),
    "earlier-cluster": ("mkdir -p /etc/kubernetes; touch /etc/kubernetes/kubelet.conf", "rm /etc/kubernetes/kubelet.conf"),
}
CAUSES = json.loads((HERE / "causes.json").read_text())
ADDRESS = os.environ["CAUSES_MACHINE"]


def contains(line, sign):
    """As in app/src/run/summary/cause/mod.rs."""
    at = 0
    for part in sign.split("…"):
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def cause_of(message):
    lines = message.splitlines()
    return next((cause["key"] for cause in CAUSES if any(contains(line, sign) for sign in cause["signs"] for line in lines)), None)


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Causes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.seen = []  # (cause, how, message)

    def hosts(self):
        """The machine by itself, and once for each way in which a login fails."""
        def machine(**variables):
            return json.dumps({"ansible_host": ADDRESS, "ansible_user": "root", **variables})

        def alias(name):
            return f"-o HostKeyAlias={name}"

        own = alias("machine")
        login = {
            "host-key-changed": machine(ansible_ssh_common_args=alias("reinstalled")),
            "host-key-unknown": machine(ansible_ssh_common_args=alias("never-seen")),
            "permission-denied.key": machine(ansible_user="nobody"),
            "permission-denied.attempts": machine(ansible_user="nobody", ansible_port=2225, ansible_ssh_common_args=own),
            "ssh-refused": machine(ansible_port=1),
            "ssh-timed-out.silent": machine(ansible_port=2224, ansible_timeout=2),
            "ssh-timed-out.banner": machine(ansible_port=2223, ansible_timeout=2),
            "ssh-timed-out.no-machine": machine(ansible_host=ADDRESS.rpartition(".")[0] + ".99", ansible_timeout=5),
            "ssh-timed-out.no-route": machine(ansible_host="203.0.113.1", ansible_timeout=5),
            "ssh-name-unknown": machine(ansible_host="no-such-machine.invalid"),
            "ssh-closed.busy": machine(ansible_port=2222, ansible_ssh_common_args=own),
            "ssh-closed.reset": machine(ansible_port=2226, ansible_ssh_common_args=own),
            "sudo-password-missing": machine(ansible_user="ada"),
            "sudo-password-wrong": machine(ansible_user="ada", ansible_become_password="wrong-password"),
            "sudo-refused.nobody": machine(ansible_user="bob", ansible_become_password="right-password"),
            "python-missing.named": machine(ansible_python_interpreter="/usr/bin/python9"),
        }
        late = {"sudo-not-installed": machine(ansible_user="ada", ansible_become_password="right-password"), "python-missing.none": machine()}
        return {"machine": machine(), **login, **late}, list(login)

    def staged(self, playbook, control_planes=("machine",)):
        """A run on the machine, whose first step is this playbook."""
        hosts, login = self.hosts()
        run = StagedRun(self, hosts)
        groups = {"causes": login, "without_sudo": ["sudo-not-installed"], "without_python": ["python-missing.none"],
                  "kube_control_plane": control_planes, "kube_node": control_planes}
        inventory = {"all": {"hosts": {name: json.loads(values) for name, values in hosts.items()},
                             "children": {group: {"hosts": {name: {} for name in names}} for group, names in groups.items()}}}
        run.write("conf/hosts.yml", json.dumps(inventory))
        own = Path(os.environ["CAUSES_KNOWN_HOSTS"]).read_text()
        keys = [line.split(None, 1)[1] for line in own.splitlines() if ADDRESS in line.split()[0].split(",")]
        self.assertTrue(keys, f"{ADDRESS} has no host key")
        other = subprocess.run(["ssh-keygen", "-y", "-f", os.environ["CAUSES_KEY"]], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[:2]
        ports = [f"[{ADDRESS}]:{port} {key}" for key in keys for port in (1, 2223, 2224, 2226)]
        run.write("conf/known_hosts", "\n".join([*ports, *(f"{name} {key}" for key in keys for name in (ADDRESS, "machine")), f"reinstalled {' '.join(other)}", ""]))
        run.write("auth/ssh-privatekey", Path(os.environ["CAUSES_KEY"]).read_text()).chmod(0o600)
        release, version = os.environ["CAUSES_RELEASE"], os.environ["CAUSES_RELEASE"].rpartition("/")[2]
        variables = {"address": ADDRESS, "release": release, "version": version, "kube_version": version, "files_repo": release.partition("/release/")[0]}
        # The lab's machines may have cgroups of version 1.
        run.write("conf/group_vars.yml", json.dumps({**variables, "kubelet_config_extra_args": {"failCgroupV1": False}}))
        if playbook:
            run.playbook((HERE / playbook).read_text())
        return run

    def failures(self, run, playbook):
        """What failed: host, task and message."""
        started = time.monotonic()
        rest, _ = run.start().process.communicate(timeout=RUN_WITHIN_SECONDS)
        run.output += rest
        tasks = {event["task"]: event["name"] for event in run.of("task_start")}
        failed = [(event["host"], tasks[event["task"]], event["message"]) for event in run.of("host_result")
                  if event["result"] in ("failed", "unreachable") and "item" not in event]
        print(f"{time.monotonic() - started:5.1f} s  {playbook}, {len(failed)} failures", file=sys.stderr)
        if path := os.environ.get("CAUSES_LOGS"):
            Path(path, playbook.replace("/", "-") + ".log").write_bytes(run.output)
        return failed

    def tell(self, told, stray=()):
        """`told` are the expected cause, how it was produced, and the message; `stray` what failed or didn't fail against expectation."""
        self.seen.extend(told)
        wrong = [*stray]
        wrong += [f"{how}: {cause_of(message) or 'no cause'} instead of {cause}\n{message}" for cause, how, message in told if cause_of(message) != cause]
        if wrong:
            self.fail("\n\n".join(["not as expected:", *wrong]))

    def by_task(self, playbook):
        """Each task that is named after a cause must fail on the machine, and no other task."""
        run = self.staged(playbook)
        for file in (HERE / "on_machine").iterdir():
            if file.is_file():
                run.write(f"conf/sources/0/on_machine/{file.name}", file.read_text())
        run.write("conf/sources/0/library/drain_node.py", (run.root / "kubespray/library/drain_node.py").read_text())
        failed = self.failures(run, playbook)
        self.assertEqual(run.rc, 0, run.text[-3000:])
        named = set(re.findall(r'- name: "([a-z0-9-]+, [^"]*)"', (HERE / playbook).read_text()))
        stray = [f"{task} failed: {message}" for _, task, message in failed if task not in named]
        stray += [f"{task} did not fail" for task in sorted(named - {task for _, task, _ in failed})]
        self.tell([(task.partition(", ")[0], task, message) for _, task, message in failed if task in named], stray)

    def test_1_prepare(self):
        self.by_task("prepare.yml")

    def test_2_logins(self):
        run = self.staged("connection.yml")
        failed = self.failures(run, "connection.yml")
        hosts, _ = self.hosts()
        stray = [f"{host} did not fail" for host in sorted(set(hosts) - {"machine"} - {host for host, *_ in failed})]
        stray += [message for host, _, message in failed if host == "machine"]
        self.tell([(host.partition(".")[0], f"login: {host}", message) for host, _, message in failed], stray)

    def test_3_tasks_of_a_machine(self):
        self.by_task("machine.yml")

    def test_4_playbooks_that_ansible_refuses(self):
        """They end without a failed task. The run page quotes ansible's own line."""
        told = []
        for path in sorted((HERE / "refused").glob("*.yml")):
            run = StagedRun(self, {"here": LOCAL}).playbook(path.read_text(), args=["--limit=absent"] if "limit" in path.name else [])
            started = time.monotonic()
            run.run()
            print(f"{time.monotonic() - started:5.1f} s  {path.name}", file=sys.stderr)
            lines = [plain(line) for line in run.text.splitlines()]
            quoted = [line for line in lines if line.startswith(("ERROR! ", "[ERROR]: "))] + [f["message"] for f in run.termination["failures"]]
            self.assertTrue(quoted, f"{path.name} did not fail: {run.text}")
            told.append((path.name.split(".")[0], path.name, quoted[0]))
        self.tell(told)

    def test_5_programs_of_kubernetes(self):
        self.by_task("kubernetes.yml")

    def test_6_checks_of_the_engine(self):
        told = []
        for cause, (break_it, repair_it) in PRECHECKS.items():
            run = self.staged(None)
            for name, command in (("break", break_it), ("repair", repair_it)):
                run.write(f"conf/sources/{name}.yml", json.dumps([{"hosts": "machine", "gather_facts": False, "tasks": [{"name": name, "raw": command}]}]))
            run.add("pre", "playbook", "conf/sources/break.yml", "break.yml", [])
            run.builtin("precheck.yml")
            told += [(cause, f"precheck.yml, {task}", message) for _, task, message in self.failures(run, f"precheck.yml, {cause}")]
            run.steps[:] = []
            again = self.staged(None).add("main", "playbook", "conf/sources/break.yml", "repair.yml", [])
            again.write("conf/sources/break.yml", (run.root / "conf/sources/repair.yml").read_text())
            self.assertEqual(again.run().rc, 0, again.text)
        run = self.staged(None, ("machine", "ssh-refused")).builtin("precheck.yml")
        told += [("control-planes-even", f"precheck.yml, {task}", message) for _, task, message in self.failures(run, "precheck.yml, groups")]
        self.assertEqual({cause for cause, *_ in told}, {*PRECHECKS, "control-planes-even"})
        self.tell(told)

    def test_9_the_table_says_which_causes_are_produced(self):
        produced = {cause for cause, *_ in self.seen}
        marked = {cause["key"] for cause in CAUSES if cause["produced"]}
        print(f"{len(produced)} of {len(CAUSES)} causes in {len(self.seen)} failures", file=sys.stderr)
        print("no test produces: " + ", ".join(cause["key"] for cause in CAUSES if cause["key"] not in produced), file=sys.stderr)
        if path := os.environ.get("CAUSES_RECORD"):
            lines = [json.dumps({"cause": c, "how": h, "message": m}, ensure_ascii=False) for c, h, m in sorted(self.seen)]
            Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n")
        self.assertEqual(produced, marked)


if __name__ == "__main__":
    unittest.main(failfast=False)
