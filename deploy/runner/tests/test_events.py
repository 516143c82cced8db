# SPDX-License-Identifier: Apache-2.0
"""The events that the callback plugin writes for a playbook."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from staged_run import LOCAL, UNREACHABLE, TOKEN, StagedRun, ansible_bin

PLUGINS = pathlib.Path(__file__).parents[1] / "callback"
PLAY = """
- name: A play
  hosts: all
  gather_facts: false
  become: false
  tasks:
"""

# What a machine can send instead of a module's result.
EVIL = """#!/usr/bin/python3
import json
stats = {"data": {"kubeonkube_outcome": {"verdict": "forged", "more": "forged"}}, "per_host": False, "aggregate": False}
print(json.dumps({"changed": False, "ansible_stats": stats}))
"""


def hosts_in(run, name):
    """The hosts of a list of the first step's summary."""
    return run.termination["steps"][0].get(name, {"hosts": []})["hosts"]


class Events(unittest.TestCase):
    def play(self, tasks, hosts=None):
        return StagedRun(self, hosts or {"m1": LOCAL}).playbook(PLAY + tasks)

    def test_events_are_complete_and_numbered_without_gaps(self):
        run = self.play("""
    - name: First
      ansible.builtin.command: "true"
    - name: Second
      ansible.builtin.debug: {msg: hello}
""", {"m1": LOCAL, "m2": LOCAL}).run()
        self.assertEqual([event["n"] for event in run.events], list(range(1, len(run.events) + 1)))
        self.assertEqual(run.kinds[:3], ["step_start", "play_start", "task_start"])
        self.assertEqual(run.kinds[-2:], ["stats", "step_end"])
        self.assertEqual([(e["task"], e["name"], e["action"], e["play"], e["handler"]) for e in run.of("task_start")],
                         [(1, "First", "ansible.builtin.command", 1, False), (2, "Second", "ansible.builtin.debug", 1, False)])
        self.assertEqual(sorted((e["task"], e["host"]) for e in run.of("host_start")), [(1, "m1"), (1, "m2"), (2, "m1"), (2, "m2")])
        self.assertEqual(sorted((e["task"], e["host"], e["result"]) for e in run.of("host_result")),
                         [(1, "m1", "changed"), (1, "m2", "changed"), (2, "m1", "ok"), (2, "m2", "ok")])
        self.assertEqual(run.of("stats")[0]["hosts"]["m1"],
                         {"ok": 2, "changed": 1, "unreachable": 0, "failed": 0, "skipped": 0, "rescued": 0, "ignored": 0, "place": 1, "reached": True})
        self.assertGreater(run.of("host_result", task=1)[0]["ms"], 0)

    def test_what_runs_on_no_host_is_no_task(self):
        run = self.play("""
    - name: First
      ansible.builtin.command: "true"
      notify: Later
    - ansible.builtin.meta: flush_handlers
    - meta: end_host
      when: false
  handlers:
    - name: Later
      ansible.builtin.meta: noop
""").run()
        self.assertEqual([event["name"] for event in run.of("task_start")], ["First"])
        self.assertEqual([event["result"] for event in run.of("host_result")], ["changed"])

    def test_ansibles_own_line_precedes_its_event(self):
        run = self.play("    - name: Speak\n      ansible.builtin.command: 'true'\n").run()
        line = run.output.index(b"changed: [m1]")
        self.assertLess(line, run.output.index(b'"result":"changed"'))
        self.assertLess(run.output.index(b"TASK [Speak]"), run.output.index(b'"type":"task_start"'))

    def test_items_are_reported_one_by_one_and_then_the_task(self):
        run = self.play("""
    - name: Loop
      ansible.builtin.command: "test {{ item }} != b"
      loop: [a, b, c]
      when: item != 'c'
""").run()
        items = [(e.get("item"), e["result"]) for e in run.of("host_result")]
        self.assertEqual(items, [("a", "changed"), ("b", "failed"), ("c", "skipped"), (None, "failed")])
        self.assertIn("non-zero return code", run.of("host_result")[-1]["message"])

    def test_retries_count_up_to_the_result(self):
        run = self.play("""
    - name: Try
      ansible.builtin.command: "false"
      register: tried
      until: tried.rc == 0
      retries: 2
      delay: 0
""").run()
        retries = [(e["host"], e["attempt"], e["retries"]) for e in run.of("retry")]
        self.assertEqual([attempt for _, attempt, _ in retries], list(range(1, len(retries) + 1)))
        self.assertGreaterEqual(len(retries), 2)
        self.assertEqual(run.kinds.index("retry") < run.kinds.index("host_result"), True)

    def test_an_ignored_failure_is_marked_and_fails_nothing(self):
        run = self.play("""
    - name: Shaky
      ansible.builtin.command: "false"
      ignore_errors: true
""").run()
        result = run.of("host_result")[0]
        self.assertEqual((result["result"], result["ignored"]), ("failed", True))
        self.assertEqual((run.rc, run.termination["failures"]), (0, []))
        self.assertEqual(run.termination["steps"][0]["recap"]["ignored"], 1)

    def test_a_rescued_failure_is_an_event_but_no_failure(self):
        run = self.play("""
    - name: Careful
      block:
        - name: Break
          ansible.builtin.command: "false"
      rescue:
        - name: Recover
          ansible.builtin.command: "true"
""").run()
        self.assertEqual([e["result"] for e in run.of("host_result")], ["rescued", "changed"])
        self.assertIn("non-zero return code", run.of("host_result")[0]["message"])
        self.assertEqual((run.rc, run.termination["failures"]), (0, []))
        self.assertEqual(run.termination["steps"][0]["recap"]["rescued"], 1)

    def test_failures_of_one_reason_name_their_hosts_in_order(self):
        tasks = """
    - shell: "sleep {{ 1 if inventory_hostname == 'n3' else 0 }}; echo {{ 'full' if inventory_hostname is match('n') else inventory_hostname }}; exit 1"
      when: inventory_hostname != "a1"
      name: Install
    - name: Check
      fail: {msg: gone}
"""
        run = self.play(tasks, {name: LOCAL for name in ("n3", "n20", "n1", "n4", "n5", "n6", "b2", "b1", "a1")}).run()
        # The first of the inventory failed last.
        self.assertNotEqual(run.of("host_result", result="failed")[0]["host"], "n3")
        hosts = {"count": 6, "hosts": ["n3", "n20", "n1", "n4", "n5"]}
        self.assertEqual(run.termination["failures"], [
            {"host": "n3", "task": "Install", "message": "non-zero return code: full", "hosts": hosts},
            {"host": "b2", "task": "Install", "message": "non-zero return code: b2"},
            {"host": "b1", "task": "Install", "message": "non-zero return code: b1"},
        ])
        self.assertEqual(run.termination["failed_hosts"], 9)

    def failures_of(self, run):
        """(task, host, result) of what failed, after a comparison with what ansible counted."""
        names = {e["task"]: e["name"] for e in run.of("task_start")}
        results = [e for e in run.of("host_result") if "item" not in e and not e.get("ignored")]
        for host, counts in run.of("stats")[0]["hosts"].items():
            for outcome in ("failed", "rescued"):
                self.assertEqual(len([e for e in results if (e["host"], e["result"]) == (host, outcome)]), counts[outcome], (host, outcome))
        return [(names[e["task"]], e["host"], e["result"]) for e in results if e["result"] in ("failed", "rescued")]

    def test_only_what_ansible_counts_as_rescued_is_reported_so(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        self.addCleanup(shutil.rmtree, folder)
        for name in ("included", "imported"):
            (folder / f"{name}.yml").write_text(f"- block:\n    - name: {name}\n      ansible.builtin.command: 'false'\n", encoding="utf-8")
        run = self.play(f"""
    - block:
        - block:
            - name: Nested
              ansible.builtin.command: "false"
          always:
            - name: Always
              ansible.builtin.command: "false"
      rescue:
        - name: Recover
          ansible.builtin.command: "true"
    - block:
        - ansible.builtin.include_tasks: {folder}/included.yml
      rescue: &again
        - name: Again
          ansible.builtin.command: "true"
    - block:
        - ansible.builtin.import_tasks: {folder}/imported.yml
      rescue: *again
    - name: Pass
      ansible.builtin.command: "false"
      ignore_errors: true
    - block:
        - name: Loop
          ansible.builtin.command: "test {{{{ item }}}} = a"
          loop: [a, b]
      rescue:
        - name: Give up
          ansible.builtin.command: "false"
      always:
        - block:
            - name: Clean up
              ansible.builtin.command: "false"
          rescue: *again
""").run()
        self.assertEqual(self.failures_of(run), [
            ("Nested", "m1", "rescued"), ("Always", "m1", "rescued"), ("included", "m1", "rescued"), ("imported", "m1", "rescued"),
            ("Loop", "m1", "rescued"), ("Give up", "m1", "failed"), ("Clean up", "m1", "rescued")])
        self.assertEqual([failure["task"] for failure in run.termination["failures"]], ["Give up"])

    def test_a_failure_whose_rescue_the_tags_leave_out_is_a_failure(self):
        tasks = """
    - block:
        - name: Deep
          ansible.builtin.command: "false"
          tags: [deep]
      rescue:
        - name: Recover
          ansible.builtin.command: "true"
"""
        for arguments in (["--tags", "deep"], ["--skip-tags", "untagged,untidy"]):
            run = StagedRun(self, {"m1": LOCAL}).playbook(PLAY + tasks.replace("Recover", "Recover\n          tags: [untidy]"), args=arguments).run()
            self.assertEqual(self.failures_of(run), [("Deep", "m1", "failed")], arguments)
            self.assertEqual([failure["task"] for failure in run.termination["failures"]], ["Deep"])
        run = StagedRun(self, {"m1": LOCAL}).playbook(PLAY + tasks, args=["--tags", "deep,untagged"]).run()
        self.assertEqual((self.failures_of(run), run.rc), ([("Deep", "m1", "rescued")], 0))

    def test_an_include_that_cannot_be_loaded_is_a_failure(self):
        for include, why in (("include_role: {name: gone}", r"play\.yml, line \d+: the role 'gone' was not found"),
                             ("include_tasks: nowhere.yml", r"play\.yml, line \d+: Could not find or access 'nowhere.yml'")):
            run = self.play(f"\n    - name: Include\n      ansible.builtin.{include}\n").run()
            self.assertEqual(self.failures_of(run), [("Include", "m1", "failed")])
            self.assertEqual([failure["task"] for failure in run.termination["failures"]], ["Include"])
            self.assertRegex(run.of("host_result")[-1]["message"], f"^{why}$")

    def test_an_error_of_ansible_names_files_as_the_user_knows_them(self):
        undefined = ".*'nowhere' is undefined"
        for task, why in (
            ("template: {src: x.j2, dest: /tmp/x}", "Could not find or access 'x.j2'"),
            ("copy: {src: x.txt, dest: /tmp/x}", "Could not find or access 'x.txt'"),
            ("script: x.sh", "Could not find or access 'x.sh'"),
            ("unarchive: {src: x.tgz, dest: /tmp}", "Could not find or access 'x.tgz'"),
            ("include_vars: x.yml", "Could not find or access 'x.yml'"),
            ("include_vars: broken.yml", ".*did not find expected ',' or '\\]'.*"),
            ("debug: {msg: '{{ nowhere }}'}", undefined),
            ("assert: {that: nowhere == 1}", undefined),
            ("template: {src: undefined.j2, dest: /tmp/x}", undefined),
            ("debug: {msg: \"{{ ''|nofilter }}\"}", ".*(No filter named|Could not load).*"),
        ):
            with self.subTest(task):
                run = self.play(f"\n    - {task}\n")
                run.write("conf/sources/0/broken.yml", "a: [1\nb: 2\n")
                run.write("conf/sources/0/undefined.j2", "{{ nowhere }}")
                message = run.run().of("host_result")[-1]["message"]
                self.assertRegex(message, f"^(play|broken).yml, line \\d+: {why}$")
                self.assertNotIn(str(run.root), message)

    def test_only_errors_of_ansible_get_a_place(self):
        run = self.play("""
    - ansible.builtin.fail: {msg: "see {{ playbook_dir }}/a.yml"}
      ignore_errors: true
    - command: cat /kubespray/gone
""").run()
        messages = [event["message"] for event in run.of("host_result")]
        self.assertEqual(messages, ["see a.yml", "non-zero return code: cat: /kubespray/gone: No such file or directory"])

    def test_a_machine_that_cant_be_reached_for_another_is_named(self):
        run = StagedRun(self, {"m1": LOCAL, "gone": UNREACHABLE}).playbook(PLAY.replace("all", "m1") + """
    - ping:
      delegate_to: "{{ 'gone' }}"
      ignore_unreachable: true
    - ping:
      delegate_to: "{{ item }}"
      loop: [m1, gone]
""").run()
        messages = [(event.get("item"), event["message"]) for event in run.of("host_result") if "message" in event]
        self.assertEqual([item for item, _ in messages], [None, "gone", None])
        for _, message in messages:
            self.assertRegex(message, "^gone was unreachable: .*Connection refused")

    def test_a_delegate_that_is_unreachable_fails_the_task_of_the_host(self):
        delegated = "    - ping:\n      delegate_to: {}\n"
        loop = delegated.format('"{{ item }}"') + "      loop: [m1, gone]\n"
        for tasks, host, result in (
            (delegated.format("gone"), "m1", "failed"),
            (loop, "m1", "failed"),
            (delegated.format("gone"), "gone", "unreachable"),
            (loop, "gone", "unreachable"),
            ("    - ping:\n", "gone", "unreachable"),
            ("    - ping:\n      loop: [1]\n", "gone", "unreachable"),
        ):
            with self.subTest(tasks, host=host):
                run = StagedRun(self, {"m1": LOCAL, "gone": UNREACHABLE}).playbook(PLAY.replace("all", host) + tasks).run()
                event = next(event for event in run.of("host_result", result=result) if "item" not in event)
                stats, recap = run.of("stats")[0]["hosts"][host], run.termination["steps"][0]["recap"]
                counts = (1, 0) if result == "failed" else (0, 1)
                self.assertEqual(((stats["failed"], stats["unreachable"]), (recap["failed"], recap["unreachable"])), (counts, counts))
                self.assertEqual(event["message"].startswith("gone was unreachable: "), result == "failed", event)
                self.assertEqual(run.termination["failures"][0]["message"][:200], event["message"][:200])

    def test_a_folder_that_is_missing_is_named_by_every_ansible(self):
        run = self.play("\n    - command: {cmd: 'true', chdir: /nowhere}\n").run()
        self.assertRegex(run.of("host_result")[0]["message"], "^Unable to change directory before execution: .*/nowhere")

    def test_looking_for_hosts_prints_no_warnings(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook("""
- hosts: "{{ target | default('all') }}"
  gather_facts: false
  tasks: [{ansible.builtin.group_by: {key: made}}]
- hosts: made
  gather_facts: false
  tasks: [{ansible.builtin.command: "true"}]
""").run()
        self.assertNotIn("WARNING", run.text)
        self.assertEqual(len(run.of("host_result")), 2)

    def test_a_rescued_failure_after_a_broken_include_stays_rescued(self):
        run = self.play("""
    - block:
        - name: Include
          ansible.builtin.include_tasks: nowhere.yml
      rescue:
        - block:
            - name: Break
              ansible.builtin.command: "false"
          rescue:
            - name: Recover
              ansible.builtin.command: "true"
""").run()
        self.assertEqual(self.failures_of(run), [("Include", "m1", "failed"), ("Break", "m1", "rescued")])

    def test_no_text_of_an_event_has_escape_sequences(self):
        red = "\\u001b[31mERROR\\u001b[0m"
        run = self.play(f"""
    - name: "{red} task"
      ansible.builtin.command: "true"
    - name: Loop
      ansible.builtin.debug: {{msg: "{{{{ item }}}}"}}
      loop: ["{red} item"]
    - name: Print
      ansible.builtin.shell: "printf '10%%\\r{red}: disk full' >&2; exit 1"
      ignore_errors: true
    - name: Fail
      ansible.builtin.fail: {{msg: "{red}: it broke \\x9b31mhere\\a"}}
""").run()
        self.assertIn("ERROR task", [e["name"] for e in run.of("task_start")])
        self.assertIn("ERROR item", [e.get("item") for e in run.of("host_result")])
        messages = [e["message"] for e in run.of("host_result", result="failed")]
        self.assertEqual(messages, ["non-zero return code: ERROR: disk full", "ERROR: it broke here"])

    def test_no_text_of_an_event_runs_backwards(self):
        run = self.play("""
    - name: "say \u202e task"
      ansible.builtin.debug: {msg: "{{ item }}"}
      loop: ["\u2066item"]
    - name: Fail
      ansible.builtin.fail: {msg: "safe \u202egpj.exe hunter\u202e22"}
""")
        run.write("conf/secrets.json", json.dumps(["hunter\u202e22"]))
        self.assertIn("say <U+202E> task", [e["name"] for e in run.run().of("task_start")])
        self.assertIn("<U+2066>item", [e.get("item") for e in run.of("host_result")])
        self.assertEqual(run.of("host_result", result="failed")[0]["message"], "safe <U+202E>gpj.exe ••••••")

    def test_a_failure_without_msg_has_a_cause(self):
        run = self.play("""
    - name: Read
      ansible.builtin.include_vars: nowhere.yml
      ignore_errors: true
    - name: Judge
      ansible.builtin.command: "echo too old"
      failed_when: true
      ignore_errors: true
    - name: Facts
      ansible.builtin.gather_facts:
      vars: {ansible_python_interpreter: /usr/bin/python9}
""").run()
        messages = [e["message"] for e in run.of("host_result", result="failed")]
        self.assertIn("nowhere.yml", messages[0])
        self.assertEqual(messages[1], "The condition of failed_when is true: too old")
        self.assertIn("/usr/bin/python9", messages[2])

    def test_a_rescue_takes_over_after_a_failure_that_removed_all_hosts(self):
        run = self.play("""
    - block:
        - name: Together
          ansible.builtin.command: "false"
          run_once: true
      rescue: &recover
        - name: Recover
          ansible.builtin.command: "true"
    - block:
        - name: Later
          ansible.builtin.command: "false"
      rescue: *recover
""", {"m1": LOCAL, "m2": LOCAL}).run()
        self.assertEqual(self.failures_of(run), [("Together", "m1", "rescued"), ("Later", "m1", "rescued")])

    def test_the_recap_tells_from_which_hosts_a_result_came(self):
        run = self.play("""
    - name: Try
      ansible.builtin.ping:
      ignore_unreachable: true
      when: inventory_hostname is match("m[12]")
    - name: Try all
      ansible.builtin.ping: {data: "{{ item }}"}
      ignore_unreachable: true
      loop: [a, b]
      when: inventory_hostname == "m2"
    - name: Speak
      ansible.builtin.debug: {msg: hello}
    - name: For the others
      ansible.builtin.ping:
      delegate_to: m1
    - name: Here
      ansible.builtin.command: "true"
      connection: local
    - name: Ask for what is missing
      ansible.builtin.command: "{{ missing }}"
      ignore_errors: true
      when: inventory_hostname == "m3"
    - name: Break
      ansible.builtin.command: "false"
      ignore_errors: true
      when: inventory_hostname == "m4"
    - name: Break one
      ansible.builtin.command: "test {{ item }} = b"
      ignore_errors: true
      loop: [a]
      when: inventory_hostname == "m5"
""", {"m1": LOCAL, "m2": UNREACHABLE, "m3": LOCAL, "m4": LOCAL, "m5": LOCAL}).run()
        self.assertEqual({host: stats["reached"] for host, stats in run.of("stats")[0]["hosts"].items()},
                         {"m1": True, "m2": False, "m3": False, "m4": True, "m5": True}, run.events)

    def test_a_run_in_batches_that_fails_says_which_hosts_are_left(self):
        hosts = {f"n{number}": LOCAL for number in range(1, 12)}
        run = StagedRun(self, hosts).playbook(PLAY.replace("  tasks:", "  serial: 1\n  tasks:") + """
    - name: Upgrade
      ansible.builtin.command: "false"
      when: inventory_hostname == "n2"
""").run()
        recap = run.of("stats")[0]["hosts"]
        self.assertEqual(len(recap), 11)
        self.assertEqual([host for host, counts in recap.items() if counts.get("left")], [f"n{number}" for number in range(3, 12)])
        step = run.termination["steps"][0]
        self.assertEqual((step["recap"]["hosts"], step["recap"]["failed"]), (11, 1))
        self.assertEqual(step["unreached"], {"count": 9, "hosts": ["n3", "n4", "n5", "n6", "n7"]})
        self.assertNotIn("unfinished", step)

    def left_by(self, plays, gone=None):
        """The hosts that are left of n1 to n4, of which `gone` can't be reached."""
        hosts = {host: UNREACHABLE if host == gone else LOCAL for host in ("n1", "n2", "n3", "n4")}
        run = StagedRun(self, hosts).playbook(plays).run()
        left = [host for host, counts in run.of("stats")[-1]["hosts"].items() if counts.get("left")]
        self.assertEqual(sorted(left), sorted(hosts_in(run, "unfinished") + hosts_in(run, "unreached")))
        return left

    def test_hosts_of_other_plays_and_of_plays_that_never_began_are_left(self):
        play = """
- hosts: {}
  gather_facts: false
  serial: {}
  tasks:
    - ansible.builtin.command: "{}"
      when: inventory_hostname is match("{}")
"""
        roll = play.format("all", "100%", "true", ".*") + play.format("all", "1", "false", "n2")
        self.assertEqual(self.left_by(roll), ["n3", "n4"], "they have results of the first play")
        never = play.format("n1,n2", "1", "false", "n1") + play.format("n3,n2", "100%", "true", ".*")
        self.assertEqual(self.left_by(never), ["n2", "n3"])
        ended = play.format("all", "100%", "false", "n1") + play.format("n3,n4", "100%", "true", "n9")
        self.assertEqual(self.left_by(ended), [], "the last play was theirs")
        fatal = "- hosts: all\n  gather_facts: false\n  any_errors_fatal: true\n  tasks: [{command: 'true'}, "
        fatal += "{command: 'test {{ inventory_hostname }} != n1'}, {debug: }]\n"
        self.assertEqual(self.left_by(fatal), ["n2", "n3", "n4"], "the failure of n1 ended the play for all")
        enough = fatal.replace("any_errors_fatal: true", "max_fail_percentage: 10\n  serial: 3")
        self.assertEqual(self.left_by(enough), ["n2", "n3", "n4"], "too many of the first three failed")
        tolerated = fatal.replace("any_errors_fatal: true", "max_fail_percentage: 50")
        self.assertEqual(self.left_by(tolerated), [])
        self.assertEqual(self.left_by(play.format("n1", "1", "false", "n1") + play.format("localhost", "1", "true", "x")), [])
        last = play.format("all", "1", "false", "n4")
        self.assertEqual(self.left_by(last), [])

    def test_a_play_that_ends_for_all_leaves_those_that_had_tasks_to_come(self):
        head = "- hosts: all\n  gather_facts: false\n"
        fatal, run_once = head + "  any_errors_fatal: true\n  tasks:\n", head + "  tasks:\n"
        ping, good, then = "    - ping:\n", "    - command: 'true'\n", "    - debug:\n"
        bad = "    - command: test {{ inventory_hostname }} != n1\n"
        once, fatally = "      run_once: true\n", "      any_errors_fatal: true\n"
        change = "    - command: 'true'\n      notify: {}\n"
        handlers = "  handlers:\n    - {name: H1, command: 'test {{ inventory_hostname }} != n1'}\n    - {name: H2, command: 'true'}\n"
        too_many = run_once.replace("  tasks", "  max_fail_percentage: 10\n  tasks")
        ended = "    - meta: end_host\n      when: inventory_hostname == 'n2'\n"
        rescued = "    - block: [{command: 'test {{ inventory_hostname }} != n1'%s}]\n      rescue: [{debug: }]\n"
        include = "    - include_tasks: {file: \"{{ 'gone.yml' if inventory_hostname == 'n1' else '/dev/null' }}\"}\n"
        over = "    - command: test {{ inventory_hostname }} != n3\n"
        for name, plays, gone, left in (
            ("an unreachable host in a play", fatal + ping + then, "n1", ["n2", "n3", "n4"]),
            ("an unreachable host in a task", run_once + ping + fatally + then, "n1", ["n2", "n3", "n4"]),
            ("a host that is unreachable in a tolerant play", run_once + ping + then, "n1", []),
            ("the failure of a task for all", run_once + good + bad + once + then, None, ["n2", "n3", "n4"]),
            ("the failure of a last task for all", run_once + good + bad + once, None, ["n2", "n3", "n4"]),
            ("a host that is unreachable in a task for all", run_once + ping + once + then, "n1", ["n2", "n3", "n4"]),
            ("the rescue of a task for all", run_once + rescued % ", run_once: true" + then + over, None, ["n2", "n3", "n4"]),
            ("the rescue of a fatal task", fatal + rescued % "" + then + over + then, None, ["n1", "n2", "n4"]),
            ("each host at its own speed", fatal.replace("  any", "  strategy: free\n  any") + bad + then, None, []),
            ("each host pinned", fatal.replace("  any", "  strategy: host_pinned\n  any") + bad + then, None, []),
            ("the failure of the last task", fatal + good + bad, None, []),
            ("the failure of the last task with a play to come", fatal + bad + "- hosts: n3\n  tasks: []\n", None, ["n3"]),
            ("the failure of the last task before a handler", fatal + change.format("H2") + bad + handlers, None, ["n2", "n3", "n4"]),
            ("the failure of the last handler", fatal + change.format("H1") + handlers, None, []),
            ("the failure of a handler", fatal + change.format("[H1, H2]") + handlers, None, ["n2", "n3", "n4"]),
            ("too many failures of the last task", too_many + bad, None, []),
            ("a host that was ended", fatal + ended + bad + then, None, ["n3", "n4"]),
            ("an ended host and too many failures", too_many + ended + bad + then, None, ["n3", "n4"]),
            ("a batch that was ended", head + "  serial: 2\n  tasks:\n" + bad + "    - meta: end_batch\n" + then, None, []),
            ("a play that was ended", head + "  serial: 2\n  tasks:\n" + bad + "    - meta: end_play\n" + then, None, []),
            ("a failed include", fatal + include, None, ["n2", "n3", "n4"]),
        ):
            with self.subTest(name):
                self.assertEqual(sorted(self.left_by(plays, gone)), left)

    def test_plays_that_never_began_leave_the_hosts_that_their_patterns_match(self):
        fails = "- hosts: n1\n  gather_facts: false\n  tasks:\n    - group_by: {key: made}\n    - command: 'false'\n"
        for pattern, left in (
            ("n[23]*", ["n2", "n3"]), ("all:!n2", ["n3", "n4"]), ("n*,&n4", ["n4"]), ("~n[34]", ["n3", "n4"]), ("all[2:3]", ["n3", "n4"]),
            ("{{ target | default('n3') }}", ["n3"]), ("{{ groups.all[1:] }}", ["n2", "n3", "n4"]), ("{{ nowhere }}", []),
            ("workers:n3", []), ("n3:!workers", []), ("n3:made", ["n3"]),
        ):
            with self.subTest(pattern):
                self.assertEqual(sorted(self.left_by(fails + f"- hosts: \"{pattern}\"\n  tasks: []\n")), left)

    def test_hosts_that_were_begun_are_told_from_those_that_were_not(self):
        run = StagedRun(self, {f"n{number}": LOCAL for number in range(1, 5)}).playbook("""
- hosts: all
  gather_facts: false
  serial: 2
  any_errors_fatal: true
  tasks:
    - command: "test {{ inventory_hostname }} != n1"
    - debug:
""").run()
        step = run.termination["steps"][0]
        self.assertEqual(step["unfinished"], {"count": 1, "hosts": ["n2"]})
        self.assertEqual(step["unreached"], {"count": 2, "hosts": ["n3", "n4"]})

    def test_a_task_has_run_although_ansible_gave_up_at_its_end(self):
        run = self.play("    - {command: 'true', notify: nosuch, when: inventory_hostname == 'm1'}\n", {"m1": LOCAL, "m2": LOCAL}).run()
        self.assertEqual((sorted(hosts_in(run, "unfinished")), hosts_in(run, "unreached")), (["m1", "m2"], []))

    def test_a_run_that_ansible_gives_up_says_which_hosts_are_left(self):
        play = """
- hosts: n1,n2,n3
  gather_facts: false
  tasks:
    - debug:
    - meta: end_host
      when: inventory_hostname == 'n2'
    - command: test {{ inventory_hostname }} != n3
"""
        never = "- hosts: n4,n2\n  gather_facts: false\n  tasks: []\n"
        include = play + "    - include_tasks: broken.yml\n"
        for name, plays, left in (
            ("a broken include", include, {"n1"}),
            ("a broken include and a play to come", include + never, {"n1", "n2", "n4"}),
            ("a missing handler", play.replace(",n3", "") + "      notify: nobody\n", {"n1"}),
            ("a pattern", play + never.replace("n4,n2", "'{{ nowhere }}'") + never, {"n2", "n4"}),
        ):
            with self.subTest(name):
                run = StagedRun(self, {host: LOCAL for host in ("n1", "n2", "n3", "n4")}).playbook(plays)
                run.write("conf/sources/0/broken.yml", "- no_such_module: {}\n")
                run.run()
                self.assertEqual(run.of("stats"), [])
                [given_up] = run.of("given_up")
                self.assertEqual((set(given_up["left"]), given_up["failed"]), (left, [] if name == "a missing handler" else ["n3"]))
                self.assertEqual(set(hosts_in(run, "unfinished") + hosts_in(run, "unreached")), left)
                self.assertEqual(hosts_in(run, "unfinished"), [host for host in ("n1", "n2") if host in left])

    def test_the_recap_has_the_places_of_hosts_in_the_inventory(self):
        play = PLAY.replace("all", "{}") + "    - debug:\n"
        plays = play.format("localhost") + play.format("a") + play.format("n10,n2")
        run = StagedRun(self, {name: LOCAL for name in ("n2", "unused", "n10", "a")}).playbook(plays).run()
        places = {host: stats["place"] for host, stats in run.of("stats")[0]["hosts"].items()}
        self.assertEqual(places, {"n2": 1, "n10": 3, "a": 4, "localhost": 5})

    def test_two_playbooks_in_one_command_are_one_after_the_other(self):
        play = "- hosts: {}\n  gather_facts: false\n  tasks: [{{command: '{}'}}, {{debug: }}]\n"
        for first, second, left in (("false", "true", ["n2"]), ("true", "false", ["n3"])):
            run = StagedRun(self, {host: LOCAL for host in ("n1", "n2", "n3")})
            other = run.write("conf/sources/0/other.yml", play.format("n1", second) + play.format("n3", "true"))
            run.playbook(play.format("n1", first) + play.format("n2", "true"), args=[str(other)]).run()
            self.assertEqual(hosts_in(run, "unreached"), left)

    def test_a_limit_and_a_run_that_succeeds_leave_no_hosts(self):
        hosts = {"m1": LOCAL, "m2": LOCAL}
        tasks = "\n    - ansible.builtin.command: 'false'\n- name: Nothing\n  hosts: m2\n  gather_facts: false\n  tasks: []\n"
        failed = StagedRun(self, hosts).playbook(PLAY + tasks, args=["--limit", "m1"]).run()
        self.assertEqual(hosts_in(failed, "unfinished") + hosts_in(failed, "unreached"), [])
        good = StagedRun(self, hosts).playbook((PLAY + tasks).replace("false'", "true'").replace("hosts: all", "hosts: m1")).run()
        self.assertEqual((list(good.of("stats")[0]["hosts"]), hosts_in(good, "unreached")), (["m1"], []))

    def test_a_play_without_hosts_is_named(self):
        play = "\n- name: Upgrade\n  hosts: {}\n  gather_facts: false\n  tasks: [{{ansible.builtin.debug: {{msg: hello}}}}]\n"
        inventory = "all:\n  hosts: {m1: {ansible_connection: local}}\n  children: {empty: {}}\n"
        missing = {"workers,&empty": "workers", "'work*'": "work*", "storage[0]": "storage", "fd00::9": "fd00::9"}
        named = [(hosts, {"names": [name]}) for hosts, name in missing.items()]
        patterns = {"empty": "empty", "all:!m1": "all:!m1", "m1:&empty": "m1:&empty", "['empty[0]', 'empty*']": "empty[0],empty*",
                    "empty:!gone": "empty:!gone", "'{{ [] }}'": ""}
        empty = [(hosts, {"names": [], "pattern": pattern}) for hosts, pattern in patterns.items()]
        for plays in (named, empty[:3], empty[3:]):
            run = StagedRun(self, {}).playbook(play.format("m1") + "".join(play.format(hosts) for hosts, _ in plays))
            run.write("conf/hosts.yml", inventory)
            step = run.run().termination["steps"][0]
            self.assertEqual((run.rc, step["unmatched_plays"]), (0, len(plays)))
            self.assertEqual(step["unmatched"], [{"play": "Upgrade", **why} for _, why in plays[:3]])
            self.assertNotIn("fd00", run.text.partition("PLAY [")[0])
        limited = StagedRun(self, {"m1": LOCAL, "m2": LOCAL}).playbook(play.format("m1") + play.format("m2:!m1"), args=["-l", "m1"]).run()
        self.assertNotIn("unmatched", limited.termination["steps"][0])

    def test_a_play_whose_group_tasks_make_may_have_no_hosts(self):
        make = "\n    - {}\n"
        play = "- name: One system\n  hosts: '{}'\n  gather_facts: false\n  tasks: [{{debug: }}]\n"
        group_by, loop = "group_by: {key: \"os_{{ 'Debian 12' }}\", parents: [systems]}", "      loop: [web, db]"
        for task, pattern, names in (
            (group_by, "os_Debian-12", None),
            (group_by, "os_Red-Hat", None),
            (group_by, "os_Red-Hat[0]", None),
            (group_by, "systems:&os_Red-Hat", None),
            (group_by, "oss_Red-Hat", ["oss_Red-Hat"]),
            (group_by, "os_Red-Hat:workers", ["workers"]),
            (group_by, "empty", []),
            (group_by, "~os_Red.*", None),
            (group_by, "*Red*", None),
            ("group_by: {key: os_web}\n      when: false", "os_*", None),
            ("add_host: \"{{ {'name': 'new', 'groups': 'fresh'} }}\"", "anything", None),
            ("debug: {msg: os_Red-Hat}", "*Red*", ["*Red*"]),
            ("ansible.builtin.add_host: {name: 'new-{{ item }}', groups: 'tier_{{ item | replace(\"x\", \"y\") }}, fresh'}\n" + loop, "tier_cache", None),
            ("add_host: {name: 'new-{{ item }}', groups: ['tier_{{ item }}', fresh]}\n" + loop, "new-cache:tier_x", None),
            ("add_host: name=new group='old, fresh'\n      when: false", "fresh", None),
            ("add_host: name=new group=fresh\n      when: false", "stale", ["stale"]),
            ("debug: {msg: os_Red-Hat}", "os_Red-Hat", ["os_Red-Hat"]),
        ):
            with self.subTest(pattern, task=task):
                run = StagedRun(self, {}).playbook(PLAY + make.format(task) + play.format(pattern))
                run.write("conf/hosts.yml", "all:\n  hosts: {m1: {ansible_connection: local}}\n  children: {empty: {}}\n")
                unmatched = run.run().termination["steps"][0].get("unmatched", [])
                self.assertEqual((run.rc, [play["names"] for play in unmatched]), (0, [] if names is None else [names]), run.text)

    def test_plays_of_the_image_may_have_no_hosts(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook("- import_playbook: ../../../kubespray/cluster.yml\n" + PLAY + "    - debug:\n")
        run.write("kubespray/cluster.yml", "- hosts: all:!all[0]\n- hosts: calico_rr\n")
        run.run()
        self.assertEqual((run.rc, run.termination["steps"][0].get("unmatched")), (0, None))

    def test_a_run_without_tasks_is_told_from_one_without_hosts(self):
        tasks = "\n    - ansible.builtin.command: 'true'\n"
        run = StagedRun(self, {"m1": LOCAL}).playbook(PLAY + tasks, args=["--tags", "nothing"]).run()
        step = run.termination["steps"][0]
        self.assertEqual((step["recap"], step["unreached"]["count"]), (None, 1))
        self.assertIn("play.yml ran no task.", run.text)
        # ansible makes up this host.
        run = StagedRun(self, {"m1": LOCAL}).playbook((PLAY + tasks).replace("all", "localhost"), args=["--tags", "nothing"]).run()
        self.assertEqual(hosts_in(run, "unreached"), ["localhost"])
        run = StagedRun(self, {"m1": LOCAL}).playbook((PLAY + tasks).replace("all", "workers")).run()
        self.assertIn("play.yml matched no host and did nothing.", run.text)

    def test_a_message_is_masked_before_it_is_shortened(self):
        play = PLAY.replace("  tasks:", "  vars: {db_password: 'Sup3r. Secret9 on the Ansible Controller zz'}\n  tasks:")
        for text in ("plain {{ db_password }} failed", "Syntax Error while loading YAML.  value {{ db_password }} failed"):
            run = StagedRun(self, {"m1": LOCAL}).playbook(play + f"\n    - fail: {{msg: '{text}'}}\n").run()
            self.assertNotIn("Sup3r", json.dumps([run.events, run.termination]))

    def test_rests_of_colours_are_removed_from_messages(self):
        for text, message in (
            ("[31mERROR[0m disk", "ERROR disk"), ("sda: [1m[0;31mbad[0m[00m, [32mok[0m", "sda: bad, ok"), ("[31mhunter[0m22", "••••••"),
            ("[31mERROR disk", None), ("no colour[0m", None), ("a[31m] [0m]", None), ("[10m wide, [0cm deep", None),
        ):
            run = self.play(f"\n    - fail: {{msg: '{text}'}}\n")
            run.write("conf/secrets.json", '["hunter22"]')
            self.assertEqual(run.run().of("host_result")[0]["message"], message or text)

    def test_texts_of_the_author_and_of_modules_stay_as_they_are(self):
        for text in ("No files on the Ansible Controller yet. Run prepare first", "Task failed: disk full", "Error while draining the node"):
            run = self.play(f"\n    - fail: {{msg: '{text}'}}\n").run()
            self.assertEqual(run.of("host_result")[0]["message"], text)

    def test_a_delegate_that_was_reached_is_reached(self):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL, "gone": UNREACHABLE}).playbook(PLAY.replace("all", "m1") + """
    - command: "true"
      delegate_to: m2
    - ping:
      delegate_to: gone
      ignore_unreachable: true
""").run()
        self.assertEqual((run.rc, hosts_in(run, "unreachable")), (0, []))

    def test_a_play_that_runs_on_the_controller_reaches_no_machine(self):
        play = PLAY.replace("  tasks:", "  vars: {ansible_connection: local}\n  tasks:") + "\n    - ping:\n"
        run = StagedRun(self, {"gone": UNREACHABLE}).playbook(play).run()
        self.assertEqual((run.rc, run.of("stats")[0]["hosts"]["gone"]["reached"]), (0, False))

    def test_a_host_that_needs_no_connection_is_untouched(self):
        debug, set_fact = "    - debug:\n", "    - set_fact: {x: 1}\n"
        delegated = "    - command: 'true'\n      delegate_to: m1\n"
        local = PLAY.replace("  tasks:", "  connection: local\n  tasks:")
        skipped = "    - command: 'true'\n      when: false\n"
        gone, here = {"gone": UNREACHABLE}, {"m1": LOCAL}
        for hosts, play, untouched, reached in (
            (gone, PLAY + debug + set_fact, ["gone"], False),
            ({**gone, **here}, PLAY + delegated, ["gone"], True),
            (gone, PLAY + delegated.replace("m1", "localhost\n      connection: local"), ["gone"], False),
            (gone, PLAY + delegated.replace("m1", "localhost"), ["gone"], False),
            (gone, PLAY + "    - local_action: command true\n", ["gone"], False),
            (gone, PLAY + delegated.replace("m1", '"{{ item }}"\n      loop: [localhost]'), ["gone"], False),
            ({**gone, **here}, PLAY.replace("all", "gone") + delegated.replace("m1", '"{{ item }}"\n      loop: [m1]'), ["gone"], True),
            (gone, PLAY + "    - assert: {that: false}\n      ignore_errors: true\n", ["gone"], False),
            (here, PLAY + delegated, [], True),
            ({**gone, **here}, PLAY + debug, ["gone"], False),
            (gone, local + debug + PLAY + debug, [], False),
            (gone, PLAY + skipped, ["gone"], False),
            (gone, local + skipped, [], False),
            (here, PLAY + debug + PLAY.replace("all", "localhost") + debug, [], False),
        ):
            with self.subTest(play):
                run = StagedRun(self, hosts).playbook(play).run()
                stats = run.of("stats")[0]["hosts"]
                self.assertEqual([host for host in stats if stats[host].get("untouched")], untouched)
                self.assertEqual((run.rc, hosts_in(run, "untouched"), run.termination["steps"][0]["reached"]), (0, untouched, reached))

    def test_a_task_that_is_skipped_on_the_machine_has_reached_it(self):
        for task, args in (("command: 'true'", ["--check"]), ("script: {cmd: x, creates: /etc}", [])):
            with self.subTest(task):
                run = StagedRun(self, {"m1": LOCAL}).playbook(f"{PLAY}    - {task}\n", args=args).run()
                self.assertEqual([event["result"] for event in run.of("host_result")], ["skipped"])
                self.assertEqual((run.rc, hosts_in(run, "untouched"), run.termination["steps"][0]["reached"]), (0, [], True))

    def test_an_unreachable_host_stays_so_after_a_task_on_the_controller(self):
        tasks = "    - ping:\n      ignore_unreachable: true\n    - debug:\n    - command: 'true'\n      delegate_to: localhost\n"
        run = StagedRun(self, {"gone": UNREACHABLE}).playbook(PLAY + tasks).run()
        self.assertEqual((run.rc, hosts_in(run, "unreachable"), run.termination["steps"][0]["reached"]), (0, ["gone"], False))

    def test_a_run_that_succeeds_names_the_hosts_that_it_passed_over(self):
        ping, end = "    - ping:\n", "    - meta: {}\n      when: inventory_hostname in ['n3', 'n4']\n"
        batches, rest = PLAY.replace("  tasks:", "  serial: 2\n  tasks:"), ["n3", "n4"]
        other = PLAY.replace("all", "n1") + ping
        tagged = "      tags: [chosen]\n"
        for name, plays, args, left in (
            ("hosts that were ended", PLAY + end.format("end_host") + ping, [], rest),
            ("hosts that were ended later", PLAY + ping + end.format("end_host") + ping, [], []),
            ("hosts that another play reached", PLAY + ping + PLAY + end.format("end_host") + ping, [], []),
            ("hosts that were ended before another play", PLAY + end.format("end_host") + ping + other, [], rest),
            ("a batch that was ended", batches + end.format("end_batch") + ping, [], rest),
            ("a play that was ended", batches + ping + "    - meta: end_play\n", [], rest),
            ("tasks in blocks", PLAY + end.format("end_host") + "    - block: [{block: [{ping: }]}]\n", [], rest),
            ("a task for one host", PLAY + ping + "      run_once: true\n", [], []),
            ("a play without tasks", other + PLAY.replace("  tasks:", "  tasks: []"), [], []),
            ("a play whose tasks the tags leave out", other + tagged + PLAY + ping, ["--tags", "chosen"], []),
            ("a play before the first task", PLAY + ping + other.rstrip() + "\n      name: Here\n", ["--start-at-task", "Here"], []),
            ("a limit", PLAY + end.format("end_host") + ping, ["--limit", "n1,n3"], ["n3"]),
        ):
            with self.subTest(name):
                run = StagedRun(self, {f"n{number}": LOCAL for number in range(1, 5)}).playbook(plays, args=args).run()
                stats = run.of("stats")[0]["hosts"]
                self.assertEqual((run.rc, [host for host in stats if stats[host].get("passed_over")]), (0, left), run.text)
                self.assertEqual([host for host in stats if stats[host].get("left")], [])
                self.assertEqual((hosts_in(run, "unreached"), hosts_in(run, "unfinished")), (left, []))

    def test_a_playbook_that_reached_no_host_says_so(self):
        play = PLAY.replace("  tasks:", "  ignore_unreachable: true\n  tasks:") + "\n    - ping:\n"
        run = StagedRun(self, {"gone": UNREACHABLE, "lost": UNREACHABLE}).playbook(play).run()
        self.assertEqual((run.rc, run.termination["steps"][0]["unreachable"]), (0, {"count": 2, "hosts": ["gone", "lost"]}))
        self.assertFalse(run.termination["steps"][0]["reached"])

    def test_a_host_without_an_answer_stays_out_of_reach(self):
        play = PLAY.replace("  tasks:", "  ignore_unreachable: true\n  tasks:") + "\n    - ping:\n    - debug: {msg: hello}\n"
        run = StagedRun(self, {"gone": UNREACHABLE, "m1": LOCAL}).playbook(play).run()
        self.assertEqual((hosts_in(run, "unreachable"), run.termination["steps"][0]["reached"]), (["gone"], True))
        stats = run.of("stats")[0]["hosts"]
        self.assertEqual([host for host in stats if stats[host].get("out_of_reach")], ["gone"])

    def test_a_task_that_only_checks_changes_nothing(self):
        play = """
    - copy: {content: x, dest: "{{ lookup('env', 'HOME') }}/never"}
      check_mode: true
    - file: {path: "{{ item }}", state: absent}
      loop: [/etc/passwd]
      check_mode: true
    - command: "true"
    - copy: {content: x, dest: "{{ lookup('env', 'HOME') }}/never"}
      check_mode: true
      failed_when: true
      ignore_errors: true
    - file: {path: /nowhere/at/all, state: absent}
      check_mode: true
"""
        run = self.play(play).run()
        self.assertEqual([event["result"] for event in run.of("host_result") if "item" not in event], ["would_change", "would_change", "changed", "failed", "ok"])
        self.assertEqual([event["result"] for event in run.of("host_result") if "item" in event], ["would_change"])
        counts, step = run.of("stats")[0]["hosts"]["m1"], run.termination["steps"][0]
        self.assertEqual((counts["changed"], step["recap"]["changed"]), (1, 1))
        # An ignored failure counts, as ansible counts it.
        self.assertEqual((counts["would_change"], step["would_change"]), (3, 3))
        run = self.play("    - copy: {content: x, dest: \"{{ lookup('env', 'HOME') }}/never\"}\n      check_mode: true\n")
        run.steps[0]["args"] = ["--check"]
        self.assertEqual([event["result"] for event in run.run().of("host_result")], ["changed"])
        self.assertNotIn("would_change", run.termination["steps"][0])

    def test_a_check_says_what_it_has_really_changed(self):
        play = """
    - {command: "true", check_mode: false, when: inventory_hostname == "m2"}
    - {copy: {content: x, dest: "{{ lookup('env', 'HOME') }}/never"}}
    - {command: "{{ item }}", check_mode: false, when: inventory_hostname == "m2", ignore_errors: true, loop: ["true", "false"]}
"""
        playbook = PLAY + play
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL}).playbook(playbook, args=["--check"]).run()
        results = {host: [e["result"] for e in run.of("host_result", host=host) if e["result"] != "skipped"] for host in ("m1", "m2")}
        self.assertEqual(results, {"m1": ["changed"], "m2": ["made", "changed", "made", "failed", "failed"]})
        self.assertEqual({host: (stats["changed"], stats.get("made")) for host, stats in run.of("stats")[0]["hosts"].items()},
                         {"m1": (1, None), "m2": (3, 2)})
        step = run.termination["steps"][0]
        self.assertEqual((step["made"], step["made_changes"]), ({"count": 1, "hosts": ["m2"]}, 2))
        run = StagedRun(self, {"m2": LOCAL}).playbook(playbook).run()
        self.assertNotIn("made", run.termination["steps"][0])

    def test_a_rescue_of_a_task_for_all_saves_only_one_host(self):
        play = PLAY + """
    - block: [{name: Run once, fail: {msg: once is the cause}, run_once: true}]
      rescue: [{debug: {msg: saved}}]
    - block: [{name: Harmless, fail: {msg: not the cause}}]
      rescue: [{debug: {msg: saved}}]
    - name: After
      ping:
"""
        run = StagedRun(self, {"n1": LOCAL, "n2": LOCAL}).playbook(play).run()
        self.assertEqual((run.rc, hosts_in(run, "unreached"), run.termination["message"]), (2, ["n2"], ""))
        self.assertEqual(run.termination["failures"], [{"host": "n1", "task": "Run once", "message": "once is the cause"}])
        self.assertTrue(run.of("stats")[0]["hosts"]["n2"]["left"])

    def test_the_error_after_a_traceback_is_never_cut(self):
        lines = [f'  File "/tmp/ansible_payload_{number}.zip/{"x" * 200}.py", line {number}, in main' for number in range(8)]
        crash = "\n".join(["Traceback (most recent call last):", *lines, "ImportError: undefined symbol: the_cause"])
        run = self.play(f"    - fail: {{msg: {json.dumps(crash)}}}\n").run()
        for said in (run.termination["failures"][0]["message"], run.of("host_result", result="failed")[0]["message"]):
            self.assertTrue(said.startswith("Traceback") and said.endswith("the_cause"), said)

    def test_an_unreachable_host_fails_the_run_after_the_others(self):
        run = StagedRun(self, {"m1": LOCAL, "gone": UNREACHABLE}).builtin("ping.yml").run()
        self.assertEqual({e["host"]: e["result"] for e in run.of("host_result")}, {"m1": "ok", "gone": "unreachable"})
        self.assertNotEqual(run.rc, 0)
        recap = run.termination["steps"][0]["recap"]
        self.assertEqual((recap["hosts"], recap["ok"], recap["unreachable"]), (2, 1, 1))
        self.assertEqual(run.termination["failures"][0]["host"], "gone")
        self.assertIn("Connection refused", run.termination["failures"][0]["message"])
        self.assertIn("ping.yml: 1 unreachable host.", run.text)

    def test_handlers_and_plays_are_numbered_over_the_run(self):
        text = PLAY + """
    - name: Change
      ansible.builtin.command: "true"
      notify: Restart
  handlers:
    - name: Restart
      ansible.builtin.command: "true"
"""
        run = StagedRun(self, {"m1": LOCAL}).playbook(text, "pre").playbook(text + PLAY + "    - ansible.builtin.debug:\n").run()
        self.assertEqual([e["play"] for e in run.of("play_start")], [1, 2, 3])
        self.assertEqual([(e["task"], e["play"], e["handler"]) for e in run.of("task_start")],
                         [(1, 1, False), (2, 1, True), (3, 2, False), (4, 2, True), (5, 3, False)])
        self.assertEqual([event["n"] for event in run.events], list(range(1, len(run.events) + 1)))

    def test_a_free_strategy_announces_each_task_once(self):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL}).playbook(PLAY.replace("  become", "  strategy: free\n  become") + """
    - name: First
      ansible.builtin.command: "true"
    - name: Second
      ansible.builtin.command: "true"
""").run()
        self.assertEqual([e["name"] for e in run.of("task_start")], ["First", "Second"])
        self.assertEqual(len(run.of("host_result")), 4)

    def test_a_crashed_module_is_quoted_with_the_end_of_its_output(self):
        run = self.play("""
    - name: Crash
      ansible.builtin.ping: {data: crash}
""").run()
        first, *quoted = run.of("host_result")[0]["message"].splitlines()
        self.assertNotIn("See stdout/stderr", first)
        self.assertIn("Exception: boom", "\n".join([first, *quoted]))

    def failure_message(self, result):
        # The plugin needs ansible's own Python.
        python = pathlib.Path(ansible_bin(self), "python3")
        code = "import json, kubeonkube_events as plugin, sys; print(plugin.failure_message(json.loads(sys.argv[1])))"
        return subprocess.check_output([python, "-B", "-c", code, json.dumps(result)], cwd=PLUGINS, text=True)

    def test_over_ssh_a_crashed_module_prints_to_stdout(self):
        message = self.failure_message(
            {"msg": "MODULE FAILURE\nSee stdout/stderr for the exact error", "module_stderr": "",
             "module_stdout": "Traceback (most recent call last):\r\n  File x\r\nOSError: disk full\r\n"})
        self.assertEqual(message, "MODULE FAILURE\nTraceback (most recent call last):\n  File x\nOSError: disk full\n")

    def test_ssh_closing_its_connection_is_never_the_reason(self):
        closed, missing = "Shared connection to 10.0.0.5 closed.\r\n", "/bin/sh: 1: /usr/bin/python3: not found"
        no_json = "MODULE FAILURE: No start of json char found"
        crash = {"msg": no_json + "\nSee stdout/stderr for the exact error"}
        raw = {"msg": "non-zero return code"}
        for result, expected in (
            ({**crash, "module_stderr": closed, "module_stdout": missing + "\r\n"}, no_json + "\n" + missing),
            ({**crash, "module_stderr": "Authorised users only\r\n" + closed, "module_stdout": missing}, no_json + "\n" + missing),
            ({**crash, "module_stderr": "mux_client: broken\r\n" + closed, "module_stdout": ""}, no_json + "\nmux_client: broken"),
            ({**crash, "module_stderr": closed, "module_stdout": ""}, no_json),
            ({**crash, "module_stderr": "Killed\n", "module_stdout": "half a result"}, no_json + "\nKilled"),
            ({**raw, "stderr": closed, "stdout": missing + "\r\n"}, "non-zero return code: " + missing),
            ({**raw, "stderr": "Connection to 10.0.0.5 closed by remote host.\n", "stdout": "x"},
             "non-zero return code: Connection to 10.0.0.5 closed by remote host."),
        ):
            with self.subTest(expected):
                self.assertEqual(self.failure_message(result), expected + "\n")

    def test_a_failed_assertion_is_named_without_secrets(self):
        run = self.play("""
    - assert: {that: "ansible_memtotal_mb | default(900) >= 1500"}
      ignore_errors: true
    - assert: {that: "0 == 1", fail_msg: "Assertion failed, says the author"}
      ignore_errors: true
    - assert: {that: ["true", "item == 'hunter22'"]}
      loop: [swordfish]
""")
        run.write("conf/secrets.json", '["hunter22"]')
        run.run()
        said = [event["message"] for event in run.of("host_result", result="failed") if "item" not in event]
        self.assertEqual(said[:2], ["Assertion failed: ansible_memtotal_mb | default(900) >= 1500", "Assertion failed, says the author"])
        self.assertRegex(said[2], r"^Assertion failed: item == '[^\w]+'$")
        self.assertEqual(run.termination["failures"][0]["message"], said[2])

    def test_kubeadms_reason_is_shown_rather_than_its_advice(self):
        advice = "To see the stack trace of this error execute with --v=5 or higher\n"
        message = self.failure_message({"msg": "non-zero return code", "stderr":
            "error execution phase preflight: [preflight] Some fatal errors occurred:\n"
            "\t[ERROR Swap]: running with swap on is not supported. Please disable swap\n"
            "\t[ERROR Port-6443]: Port 6443 is in use\n"
            "[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`\n" + advice})
        self.assertEqual(message.splitlines(), [
            "non-zero return code: [ERROR Swap]: running with swap on is not supported. Please disable swap",
            "[ERROR Port-6443]: Port 6443 is in use"])
        message = self.failure_message({"msg": "non-zero return code", "stderr":
            "W1 no matter\n[preflight] Some fatal errors occurred:\n"
            "failed to create new CRI runtime service: no such file or directory[preflight] If you know what you are doing, you can make …\n"
            "error execution phase preflight: preflight checks failed\n" + advice})
        self.assertEqual(message, "non-zero return code: failed to create new CRI runtime service: no such file or directory\n")
        message = self.failure_message({"msg": "non-zero return code", "stderr": "couldn't initialize a Kubernetes cluster\n" + advice})
        self.assertEqual(message, "non-zero return code: couldn't initialize a Kubernetes cluster\n")

    def test_lines_that_say_why_are_shown_rather_than_what_follows(self):
        for stderr, expected in (
            ("W: Failed to fetch http://deb/x  404  Not Found\nW: no matter\nE: Some index files failed to download.\n",
             "W: Failed to fetch http://deb/x  404  Not Found\nE: Some index files failed to download."),
            ("curl: (60) SSL certificate problem: self-signed certificate\nMore details here: https://curl.se\n\nhow to fix it\n",
             "curl: (60) SSL certificate problem: self-signed certificate"),
            ("dd: error writing '/x': No space left on device\n5+0 records in\n0 bytes copied\n", "dd: error writing '/x': No space left on device"),
            ("dpkg: error: frontend lock was locked by another process\nNote: removing the lock file is always wrong\n",
             "dpkg: error: frontend lock was locked by another process"),
            ("Traceback (most recent call last):\n  File x\nOSError: [Errno 98] Address already in use\n", "OSError: [Errno 98] Address already in use"),
            ("error execution phase preflight: the version argument is invalid due to these fatal errors:\n\n\t- too high\nPlease fix the misalignments\n",
             "error execution phase preflight: the version argument is invalid due to these fatal errors:\n- too high"),
            ("Errors during downloading metadata for repository 'baseos':\n"
             "  - Curl error (6): Couldn't resolve host name for http://mirror/x [Could not resolve host: mirror]\n"
             "  - Status code: 404 for http://mirror/y (IP: 10.0.0.9)\n"
             "Error: Failed to download metadata for repo 'baseos': Cannot download repomd.xml: All mirrors were tried\n",
             "- Curl error (6): Couldn't resolve host name for http://mirror/x [Could not resolve host: mirror]\n"
             "- Status code: 404 for http://mirror/y (IP: 10.0.0.9)\n"
             "Error: Failed to download metadata for repo 'baseos': Cannot download repomd.xml: All mirrors were tried"),
            ("first\nthe last line\n", "the last line"),
            ("".join(f"E: {number}\n" for number in [1, 1, 2, 3, 4, 5, 6]), "E: 1\nE: 2\nE: 3\nE: 4\nE: 6"),
        ):
            with self.subTest(expected):
                message = self.failure_message({"msg": "non-zero return code", "stderr": stderr})
                self.assertEqual(message, f"non-zero return code: {expected}\n")

    def test_what_etcdctl_logs_is_shown_with_its_last_line(self):
        def logged(error, level="warn"):
            entry = {"level": level, "ts": "2026-01-01", "msg": "retrying of unary invoker failed", "error": error}
            return json.dumps(entry, separators=(",", ":")) + "\n"

        untrusted = 'rpc error: code = Unavailable desc = "transport: authentication handshake failed: x509: certificate signed by unknown authority"'
        unhealthy = "https://10.0.0.1:2379 is unhealthy: failed to commit proposal: context deadline exceeded"
        for stderr, expected in (
            (f"{logged(untrusted)}{unhealthy}\nError: unhealthy cluster\n", f"{untrusted}\n{unhealthy}\nError: unhealthy cluster"),
            # What other programs log meanwhile doesn't hide their last line.
            (f'{logged("no leader")}E1 run.go:72] "command failed"\n', 'no leader\nE1 run.go:72] "command failed"'),
            (f'{logged("no leader", "info")}the last line\n', "the last line"),
            ('{"level":"warn","error":7}\n{"level":"warn","err\nthe last line\n', "the last line"),
            (logged("two\nlines"), "two lines"),
            (logged("x" * 2000) + "Error: unhealthy cluster\n", "x" * 952 + "…\nError: unhealthy cluster"),
        ):
            with self.subTest(expected):
                message = self.failure_message({"msg": "non-zero return code", "stderr": stderr})
                self.assertEqual(message, f"non-zero return code: {expected}\n")

    def test_the_end_of_a_traceback_is_shown_with_the_message(self):
        result = {"msg": "failed to copy: a to b", "traceback": "Traceback (most recent call last):\n  File x\nOSError: [Errno 28] No space left on device\n"}
        self.assertEqual(self.failure_message(result), "failed to copy: a to b: OSError: [Errno 28] No space left on device\n")

    def test_an_encrypted_variable_without_a_password_is_named(self):
        cipher = "$ANSIBLE_VAULT;1.1;AES256\n" + "6162" * 40
        variables = "".join(f"{name}: !vault |\n  " + cipher.replace("\n", "\n  ") + "\n" for name in ("smtp_password", "other"))
        run = self.play("\n    - ansible.builtin.debug: {msg: 'to {{ smtp_password }}'}\n")
        run.write("conf/group_vars.yml", "plain: 1\n" + variables)
        run.run()
        self.assertRegex(run.termination["failures"][0]["message"], "^smtp_password: .*no vault secrets")
        inline = self.play("\n    - ansible.builtin.debug:\n        msg: !vault |\n          " + cipher.replace("\n", "\n          ") + "\n").run()
        self.assertRegex(inline.termination["failures"][0]["message"], "no vault secrets")

    def test_only_variables_with_an_encrypted_value_are_named(self):
        cipher = "$ANSIBLE_VAULT;1.1;AES256\n" + "6162" * 40
        indented = lambda spaces: "!vault |\n" + " " * spaces + cipher.replace("\n", "\n" + " " * spaces) + "\n"
        variables = "plain: 1\nnote: |\n  example: !vault |\nlogin: me\ndb:\n  login: " + indented(4)
        inline = "\n    - ansible.builtin.debug:\n        msg: " + indented(10)
        for task, named in (
            ("\n    - ansible.builtin.debug: {msg: '{{ db.login }} {{ login }} {{ note }}'}\n", "^db: "),
            ("\n    - ansible.builtin.debug: {msg: \"{{ lookup('vars', 'd' + 'b')['login'] }}\"}\n", "^db: "),
            (inline, "^(?!db|login|example)"),
        ):
            with self.subTest(task):
                run = self.play(task)
                run.write("conf/group_vars.yml", variables)
                run.run()
                message = run.termination["failures"][0]["message"]
                self.assertRegex(message, named)
                self.assertIn("no vault secrets", message)

    def test_a_program_that_is_missing_is_named_by_every_ansible(self):
        run = self.play("\n    - ansible.builtin.command: /usr/bin/nope --really\n").run()
        self.assertIn("No such file or directory", run.of("host_result")[0]["message"])
        of_newer = {"msg": "Error executing command.", "rc": 2, "cmd": "/usr/bin/nope --really", "stderr": ""}
        self.assertEqual(self.failure_message(of_newer), "Error executing command: No such file or directory: /usr/bin/nope --really\n")
        # A machine can answer anything.
        for code in (257, 2**80, "2"):
            self.assertEqual(self.failure_message({**of_newer, "rc": code}), "Error executing command.\n")

    def test_a_failed_download_says_what_the_server_answered(self):
        message = self.failure_message({"msg": "Request failed", "response": "HTTP Error 404: Not Found", "status_code": 404})
        self.assertEqual(message, "Request failed: HTTP Error 404: Not Found\n")

    def test_no_log_output_stays_hidden(self):
        run = self.play("""
    - name: Quiet
      ansible.builtin.command: "sh -c 'echo swordfish >&2; exit 1'"
      no_log: true
      loop: [swordfish]
""").run()
        self.assertNotIn(b"swordfish", run.output)
        self.assertNotIn(b"swordfish", run.termination_bytes)

    def test_an_event_line_without_the_token_stays_text(self):
        forged = "\\x1e" + "0" * 32 + ' {"n":1,"at":0,"type":"step_end","step":1,"rc":0}'
        run = StagedRun(self, {"m1": LOCAL}).script(f"printf '{forged}\\n'\n").run()
        self.assertEqual(run.kinds, ["step_start", "step_end"])
        self.assertIn('"type":"step_end"', run.text)

    def test_the_token_is_in_no_process_environment(self):
        run = StagedRun(self, {"m1": LOCAL}).script("env\n").run()
        self.assertEqual(run.rc, 0)
        self.assertNotIn(TOKEN, run.text)

    def test_invalid_utf8_breaks_neither_events_nor_message(self):
        run = self.play("""
    - name: Bytes
      ansible.builtin.shell: printf 'bad \\377\\376 bytes' >&2; exit 3
""").run()
        self.assertEqual(run.of("host_result")[0]["result"], "failed")
        self.assertEqual(run.termination["failures"][0]["task"], "Bytes")
        run.output.replace(b"\xff", b"").decode()  # the events themselves are UTF-8
        for line in run.output.split(b"\n"):
            if line.startswith(b"\x1e"):
                self.assertNotIn("\\ud", line.decode())

    def test_raw_bytes_of_a_script_reach_the_log_untouched(self):
        run = StagedRun(self, {"m1": LOCAL}).script("printf 'raw \\377 byte\\n'\n").run()
        self.assertIn(b"raw \xff byte\n", run.output)
        self.assertEqual(run.kinds, ["step_start", "step_end"])

    def test_outcomes_come_per_host_and_for_the_run(self):
        run = self.play("""
    - name: Per host
      ansible.builtin.set_stats:
        per_host: true
        data: {kubeonkube_outcome: {weight: {kg: 3}}}
    - name: For the run
      ansible.builtin.set_stats:
        data: {kubeonkube_outcome: {verdict: fine}}
""", {"m1": LOCAL, "m2": LOCAL}).run()
        self.assertEqual({e["key"]: e["value"] for e in run.of("outcome")}, {"weight": {"m1": {"kg": 3}, "m2": {"kg": 3}}, "verdict": "fine"})

    def test_an_outcome_in_the_result_of_a_module_does_not_count(self):
        run = self.play("""
    - name: For the run
      set_stats:
        data: {kubeonkube_outcome: {verdict: fine, parts: {a: 1}}}
    - name: In a loop, too
      ansible.legacy.set_stats:
        data: {kubeonkube_outcome: {parts: "{{ {item: 2} }}"}}
      loop: [b, c]
    - name: A machine answers with statistics
      evil:
    - name: In a loop
      evil:
      loop: [1, 2]
""")
        run.write("conf/sources/0/library/evil.py", EVIL)
        run.run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertEqual({e["key"]: e["value"] for e in run.of("outcome")}, {"verdict": "fine", "parts": {"a": 1, "b": 2, "c": 2}})


if __name__ == "__main__":
    unittest.main()
