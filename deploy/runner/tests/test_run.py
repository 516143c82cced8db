# SPDX-License-Identifier: Apache-2.0
"""The order of steps, the ways a run ends, and its termination message."""

import json
import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from staged_run import LOCAL, UNREACHABLE, SmallDisk, StagedRun
from test_reason import in_a_pod

OURS = ("cluster-info.yml, cluster.yml, etcd-backup.yml, etcd-restore.yml, facts.yml, join.yml, kubeconfig.yml, ping.yml, precheck.yml, remove-node.yml, "
        "renew-certs.yml, reset.yml, scale.yml, upgrade-cluster.yml")
SLEEPER = """
- name: Long play
  hosts: all
  gather_facts: false
  become: false
  tasks:
    - name: Take long
      ansible.builtin.command: sleep 347.{}
    - name: Never started
      ansible.builtin.command: "true"
"""
# m1 has the default, m2 a folder of its own, and away is another machine, for which localhost runs the task.
ASYNCHRONOUS = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: pwd
      async: 300
      poll: 1
      delegate_to: "{{ 'localhost' if inventory_hostname == 'away' else omit }}"
      register: it
    - ansible.builtin.assert:
        that:
          - it.results_file.startswith('ROOT/' ~ ('own' if inventory_hostname == 'm2' else 'work-kubeonkube/.ansible_async') ~ '/j')
          - hostvars['away'].ansible_async_dir == '~/.ansible_async'
"""


def sleepers(mark):
    """The processes that still run a `sleep` with this mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if command == f"sleep\x00347.{mark}\x00".encode():
            found.append(entry.name)
    return found


class Steps(unittest.TestCase):
    def test_hooks_run_before_and_after_the_action(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.script("echo one $1\n", "pre", ["a b"]).builtin("ping.yml").script("echo three\n", "post").run()
        self.assertEqual(run.rc, 0)
        self.assertEqual([(e["step"], e["role"]) for e in run.of("step_start")], [(1, "pre"), (2, "main"), (3, "post")])
        self.assertEqual([e["rc"] for e in run.of("step_end")], [0, 0, 0])
        self.assertLess(run.output.index(b"one a b"), run.output.index(b"PLAY ["))
        self.assertLess(run.output.index(b"PLAY RECAP"), run.output.index(b"three"))
        self.assertEqual([step["recap"] is None for step in run.termination["steps"]], [True, False, True])

    def test_a_failed_hook_before_the_action_stops_the_run(self):
        run = StagedRun(self, {"m1": LOCAL}).script("exit 7\n", "pre").builtin("ping.yml").run()
        self.assertEqual(run.rc, 7)
        self.assertNotIn("PLAY [", run.text)
        self.assertEqual([(step["role"], step["rc"]) for step in run.termination["steps"]], [("pre", 7)])
        self.assertIn("script 0 ended with exit code 7.", run.text)

    def test_a_playbook_that_matched_no_host_fails(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook("- hosts: nobody\n  gather_facts: false\n  tasks: []\n").run()
        self.assertEqual(run.rc, 1)
        # The summary contains ansible's own exit code, which alone would mean success.
        self.assertEqual((run.termination["steps"][0]["rc"], run.termination["steps"][0]["recap"]), (0, None))
        self.assertEqual([e["rc"] for e in run.of("step_end")], [1])
        self.assertIn("matched no host", run.text)

    def test_a_broken_inventory_fails(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.write("conf/hosts.yml", "all: [oops")
        run.builtin("ping.yml").run()
        self.assertNotEqual(run.rc, 0)
        self.assertIn("before any task ran", run.termination["message"])

    def test_a_missing_playbook_is_reported_with_those_that_exist(self):
        run = StagedRun(self, {"m1": LOCAL}).builtin("pong.yml").run()
        self.assertEqual(run.rc, 1)
        self.assertEqual(run.termination["message"], "There is no playbook pong.yml in the image. Available: " + OURS + ".")
        self.assertIn(run.termination["message"], run.text)

    def test_kubesprays_own_image_can_ping_and_gather_facts(self):
        run = StagedRun(self, {"m1": LOCAL})
        for name in ("ping.yml", "facts.yml"):
            os.remove(run.root / "kubespray" / name)
        run.write("kubespray/playbooks/facts.yml", "- name: Facts of kubespray\n  hosts: all\n  gather_facts: false\n  tasks: [{debug: {}}]\n")
        run.builtin("facts.yml", "pre").builtin("ping.yml").run()
        self.assertEqual(run.rc, 0)
        self.assertIn("The image has no facts.yml. kubespray/playbooks/facts.yml is run instead.", run.text)
        self.assertIn("The image has no ping.yml. ", run.text)
        self.assertIn("PLAY [Facts of kubespray]", run.text)
        self.assertIn("PLAY [Reach every machine]", run.text)

    def test_an_image_without_ansible_is_reported(self):
        run = StagedRun(self, {"m1": LOCAL}).builtin("ping.yml")
        run.bin = "/nonexistent"
        run.run()
        self.assertEqual(run.rc, 1)
        self.assertIn("ansible-playbook is not installed", run.termination["message"])

    def test_broken_steps_are_reported(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.write("conf/steps.json", "{")
        run.start(keep_steps=True).finish()
        self.assertEqual(run.rc, 1)
        self.assertIn("could not be prepared", run.termination["message"])

    def test_a_recreated_container_runs_nothing(self):
        run = StagedRun(self, {"m1": LOCAL}).script("echo ran\n").run()
        self.assertEqual(run.rc, 0)
        run.run()
        self.assertEqual(run.rc, 1)
        self.assertNotIn("ran\n", run.text.replace("== ", ""))
        self.assertIn("never repeated", run.termination["message"])

    def test_variables_and_arguments_reach_ansible_as_they_are(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.write("conf/group_vars.yml", "colour: green\n")
        run.playbook("""
- hosts: all
  gather_facts: false
  become: false
  tasks:
    - ansible.builtin.debug: {msg: "{{ colour }} {{ shape }}"}
    - ansible.builtin.debug: {msg: "of {{ lookup('env', 'KUBEONKUBE_CLUSTER') }}"}
""", args=["-e", '{"shape": "; $(id) `id`"}']).run()
        self.assertEqual(run.rc, 0)
        self.assertIn('"msg": "green ; $(id) `id`"', run.text)
        self.assertIn('"msg": "of c"', run.text)

    def test_asynchronous_tasks_on_this_machine_are_found(self):
        run = StagedRun(self, {"m1": LOCAL, "m2": "{ansible_connection: local, ansible_async_dir: own}", "away": UNREACHABLE})
        hosts = (run.root / "conf/hosts.yml").read_text()
        run.write("conf/hosts.yml", hosts.replace("own", str(run.root / "own")))
        run.playbook(ASYNCHRONOUS.replace("ROOT", str(run.root))).run()
        self.assertEqual(run.rc, 0, run.text)

    def test_the_termination_message_never_exceeds_its_limit(self):
        hosts = {f"machine-{n}-{'x' * 50}": LOCAL for n in range(4)}
        run = StagedRun(self, hosts)
        for _ in range(30):
            run.script("true\n", "pre")
        run.playbook("""
- hosts: all
  gather_facts: false
  become: false
  tasks:
    - name: "{{ 'ö' * 400 }}"
      ansible.builtin.fail: {msg: "{{ inventory_hostname + 'ä' * 5000 }}"}
""").run()
        self.assertLessEqual(len(run.termination_bytes), 4096)
        self.assertEqual(run.termination["rc"], 2)
        self.assertEqual(len(run.termination["failures"]), 3)
        self.assertEqual(run.termination["steps"][-1]["recap"]["failed"], 4)

    def test_messages_are_as_long_as_there_is_room(self):
        def messages(count, letter):
            failures = [{"host": f"m{number}", "task": "Run", "message": letter * 850} for number in range(count)]
            data = in_a_pod().fit({"v": 1, "steps": [], "failures": failures, "message": "", "running": None})
            self.assertLessEqual(len(data), 4096)
            return [len(failure["message"]) for failure in json.loads(data)["failures"]]

        self.assertEqual(messages(3, "x"), [850] * 3)
        self.assertEqual(messages(3, "ä"), [600] * 3)
        self.assertEqual(messages(5, "ä"), [300] * 5)

    def test_a_message_that_is_too_long_names_fewer_of_the_hosts_that_are_left(self):
        names = [f"n{number}-{'x' * 600}" for number in range(5)]
        step = {"role": "main", "title": "play.yml", "kind": "playbook", "rc": 2, "recap": None}
        step.update(unfinished={"count": 5, "hosts": names}, unreached={"count": 4, "hosts": names[:4]})
        step.update(unmatched=[{"play": names[0], "names": [], "pattern": names[1]}, {"play": names[2], "names": names}])
        failure = {"host": names[0], "task": "Run", "message": "x" * 600, "hosts": {"count": 9, "hosts": names}}
        data = in_a_pod().fit({"v": 1, "steps": [step], "failures": [failure], "message": "", "running": None})
        self.assertLessEqual(len(data), 4096)
        hosts = json.loads(data)["failures"][0]["hosts"]
        self.assertEqual((hosts["count"], [len(host) for host in hosts["hosts"]]), (9, [150] * 3))
        step = json.loads(data)["steps"][0]
        self.assertEqual([step[key]["count"] for key in ("unfinished", "unreached")], [5, 4])
        self.assertEqual([len(step[key]["hosts"]) for key in ("unfinished", "unreached")], [3, 3])
        self.assertEqual([(play["names"], play["pattern"][:3]) for play in step["unmatched"]], [([], "n1-")])

    def test_a_message_with_too_many_hooks_keeps_the_action(self):
        run = StagedRun(self, {"m1": LOCAL})
        for _ in range(50):
            run.script("true\n", "pre")
        run.script("true\n", "main")
        for _ in range(50):
            run.script("true\n", "post")
        run.run()
        self.assertEqual(run.rc, 0)
        self.assertLessEqual(len(run.termination_bytes), 4096)
        self.assertEqual(len(run.termination["steps"]) + run.termination["dropped"], 101)
        self.assertIn("main", [step["role"] for step in run.termination["steps"]])


class FullDisk(unittest.TestCase):
    """The disk is full when the run ends, and has room again later."""

    def ends_well(self, add):
        disk = SmallDisk(self, 16)
        steps = Path(tempfile.mkdtemp(prefix="kubeonkube-steps-"))
        self.addCleanup(shutil.rmtree, steps)
        # ansible removes its files after a task. On this disk they would make room.
        elsewhere = f"{{ansible_connection: local, ansible_remote_tmp: {steps}}}"
        run = StagedRun(self, {f"m{n}": elsewhere for n in range(50)}, inside=disk.path)
        wait = f"touch {steps}/ready; while [ ! -e {steps}/go ]; do sleep 0.05; done"
        add(run, wait)
        run.start()
        run.wait_for(lambda run: (steps / "ready").exists())
        disk.fill()
        (steps / "go").touch()
        return disk, run

    def test_a_script_that_succeeds_on_a_full_disk_has_succeeded(self):
        disk, run = self.ends_well(lambda run, wait: run.script(wait + "\n"))
        run.wait_for(lambda run: run.of("step_end"))
        self.assertFalse(run.is_over(), "it doesn't wait for room")
        disk.free()
        run.finish()
        self.assertEqual((run.rc, run.termination["rc"]), (0, 0), run.text)

    def test_a_playbook_that_succeeds_on_a_full_disk_has_succeeded(self):
        # The recap of 50 hosts needs more room than the end of a task makes.
        play = "- hosts: all\n  gather_facts: false\n  become: false\n  tasks:\n    - ansible.builtin.debug: {{msg: hello}}\n"
        play += "- hosts: m1\n  gather_facts: false\n  become: false\n  tasks:\n    - ansible.builtin.command: sh -c '{}'\n"
        disk, run = self.ends_well(lambda run, wait: run.playbook(play.format(wait)))
        run.wait_for(lambda run: run.of("stats"))
        self.assertFalse(run.is_over(), "it doesn't wait for room")
        disk.free()
        run.finish()
        self.assertEqual((run.rc, run.termination["rc"]), (0, 0), run.text)
        self.assertEqual(run.termination["steps"][0]["recap"]["changed"], 1)

    def test_a_run_that_starts_on_a_full_disk_waits_for_room(self):
        disk = SmallDisk(self, 16)
        run = StagedRun(self, {"m1": LOCAL}, inside=disk.path).script("echo done\n")
        run.prepare()
        disk.fill()
        run.launch()
        run.wait_for(lambda run: b"== step 1" in run.output)
        disk.free()
        run.finish()
        self.assertEqual(run.rc, 0, run.text)


class Stopping(unittest.TestCase):
    def test_a_stop_names_the_running_task_and_starts_nothing_more(self):
        mark = str(os.getpid())
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL}).playbook(SLEEPER.format(mark)).script("echo after\n", "post").start()
        run.wait_for(lambda run: len(run.of("host_start")) == 2 and len(sleepers(mark)) == 2)
        run.stop()
        self.assertEqual(run.rc, 143)
        end = run.termination
        self.assertEqual((end["rc"], end["cancelled"]), (143, True))
        self.assertEqual(end["running"]["task"], "Take long")
        self.assertEqual(sorted(end["running"]["hosts"]), ["m1", "m2"])
        self.assertIn('stopped on request while the task "Take long" ran on', run.text)
        self.assertEqual([e["name"] for e in run.of("task_start")], ["Take long"])
        self.assertNotIn("after\n", run.text)
        deadline = time.monotonic() + 60
        while sleepers(mark):
            self.assertLess(time.monotonic(), deadline, "processes of the task are still running after the run")
            time.sleep(0.05)

    def test_a_stopped_roll_reports_the_hosts_that_are_left_once(self):
        mark = f"2{os.getpid()}"
        names = [f"m{number}" + ".of-a-large-cluster" * 10 for number in range(1, 1001)]
        run = StagedRun(self, dict.fromkeys(names, LOCAL)).playbook(f"""
- hosts: all
  gather_facts: false
  serial: 2
  tasks:
    - ansible.builtin.command: test {{{{ inventory_hostname.split('.')[0] }}}} != m2
    - ansible.builtin.command: sleep 347.{mark}
      when: not inventory_hostname is match('m1[.]')
""").start()
        run.wait_for(lambda run: len(sleepers(mark)) == 2)
        run.stop()
        self.assertEqual((run.termination["cancelled"], run.of("stats")), (True, []))
        [given_up] = run.of("given_up")
        self.assertIn(names[1], given_up["failed"])
        # A task that the stop interrupts may fail before ansible gives up.
        self.assertEqual(sorted(given_up["left"] + given_up["failed"]), sorted(names[1:]))
        self.assertEqual(given_up["left"][-996:], names[4:])

    def test_a_stopped_script_ends_with_its_children(self):
        mark = f"1{os.getpid()}"
        run = StagedRun(self, {"m1": LOCAL}).script(f"echo started\nsleep 347.{mark}\necho after\n").start()
        run.wait_for(lambda run: b"started" in run.output and sleepers(mark))
        run.stop()
        self.assertEqual(run.rc, 143)
        self.assertTrue(run.termination["cancelled"])
        self.assertNotIn("after\n", run.text)
        deadline = time.monotonic() + 60
        while sleepers(mark):
            self.assertLess(time.monotonic(), deadline, "its children are still running")
            time.sleep(0.05)

    def test_a_script_that_ignores_the_stop_is_killed_in_time(self):
        run = StagedRun(self, {"m1": LOCAL}).script("trap '' TERM INT\necho started\nwhile :; do read -t 1 < <(:) || :; done\n").start()
        run.wait_for(lambda run: b"started" in run.output)
        run.stop()
        self.assertEqual(run.termination["rc"], 143)

    def test_a_stop_request_writes_a_provisional_message(self):
        run = StagedRun(self, {"m1": LOCAL}).script("trap '' TERM INT\necho started\nwhile :; do read -t 1 < <(:) || :; done\n").start()
        run.wait_for(lambda run: b"started" in run.output)
        run.process.terminate()
        deadline = time.monotonic() + 60
        message = run.root / "dev/termination-log"
        while not message.exists() or not message.read_bytes():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertTrue(json.loads(message.read_bytes())["cancelled"])
        run.finish()


if __name__ == "__main__":
    unittest.main()
