# SPDX-License-Identifier: Apache-2.0
"""The events that the callback plugin writes for a playbook."""

import unittest

from staged_run import LOCAL, UNREACHABLE, TOKEN, StagedRun

PLAY = """
- name: A play
  hosts: all
  gather_facts: false
  become: false
  tasks:
"""


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
                         {"ok": 2, "changed": 1, "unreachable": 0, "failed": 0, "skipped": 0, "rescued": 0, "ignored": 0})
        self.assertGreater(run.of("host_result", task=1)[0]["ms"], 0)

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
        self.assertEqual([e["result"] for e in run.of("host_result")], ["failed", "changed"])
        self.assertEqual((run.rc, run.termination["failures"]), (0, []))
        self.assertEqual(run.termination["steps"][0]["recap"]["rescued"], 1)

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


if __name__ == "__main__":
    unittest.main()
