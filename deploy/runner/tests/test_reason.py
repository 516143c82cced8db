# SPDX-License-Identifier: Apache-2.0
"""What a run says that ansible ended with an error of its own, and not with the failure of a task."""

import unittest

from staged_run import LOCAL, StagedRun

PLAY = "- name: A play\n  hosts: all\n  gather_facts: false\n"
TASK = PLAY + "  tasks:\n    - ansible.builtin.command: 'true'\n"
BEFORE = "before any task ran"
# A playbook, its arguments, and the beginning and the end of the message.
CASES = {
    "a role is missing": (PLAY + "  roles: [nowhere]\n", [], "play.yml, line 4: the role 'nowhere' was not found (", BEFORE),
    "an undefined variable": ("- hosts: '{{ nowhere }}'\n  tasks: []\n", [], "play.yml, line 1: ", BEFORE),
    "a module is missing": (PLAY + "  tasks:\n    - name: Y\n      no_such_module: {}\n", [], "play.yml, line 5: couldn't resolve module", BEFORE),
    "an open brace": (PLAY + "  tasks:\n    - debug: {msg: hello\n", [], "play.yml, line 6: did not find expected ',' or '}' (", BEFORE),
    "wrong indentation": (PLAY + "  tasks:\n  - name: Y\n     debug: {msg: a}\n", [], "play.yml, line 6: mapping values are not allowed in this", BEFORE),
    "a playbook is missing": ("- import_playbook: nowhere.yml\n", [], "Could not find or access 'nowhere.yml' (", BEFORE),
    "an unknown keyword": (PLAY + "  no_such_keyword: 1\n  tasks: []\n", [], "play.yml, line 1: 'no_such_keyword' is not", BEFORE),
    "an empty playbook": ("", [], "Empty playbook, nothing to do: play.yml (", BEFORE),
    "an unknown option": (TASK, ["--no-such-option"], "unrecognized arguments: --no-such-option (", BEFORE),
    "an option without value": (TASK, ["--forks"], "argument -f/--forks: expected one argument (", BEFORE),
    "variables are missing": (TASK, ["-e", "@nowhere.yml"], "Could not find or access 'nowhere.yml' (", BEFORE),
    "variables are broken": (TASK, ["-e", "{a: b"], "did not find expected ',' or '}' (", BEFORE),
    "the second play": (TASK + "- hosts: '{{ nowhere }}'\n  tasks: []\n", [], "play.yml, line 6: ", "after 1 task"),
    "a handler is missing": (TASK + "      notify: nobody\n", [], "The requested handler 'nobody' was not found", "after 1 task"),
}


class Reasons(unittest.TestCase):
    def test_the_message_quotes_ansible_with_file_and_line(self):
        for name, (book, arguments, start, end) in CASES.items():
            with self.subTest(name):
                run = StagedRun(self, {"m1": LOCAL}).playbook(book, args=arguments).run()
                message = run.termination["message"]
                self.assertTrue(message.startswith(start), message)
                self.assertTrue(message.endswith(f" {end})."), message)
                self.assertNotIn(str(run.root), message)

    def test_an_error_has_no_secrets_and_no_colours(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook(PLAY + "  \"hunter22\\e[31mred\\e[0m\": 1\n  tasks: []\n")
        run.write("conf/secrets.json", '["hunter22"]')
        message = run.run().termination["message"]
        self.assertIn("red' is not a valid attribute", message)
        self.assertNotIn("hunter22", message)
        self.assertNotIn("\x1b", message)

    def test_without_an_error_the_message_leads_to_the_log(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook(TASK, args=["--limit", "m1"])
        run.write("conf/hosts.yml", "all:\n  hosts: {m1: {ansible_connection: local}}\n")
        (run.root / "bin").mkdir()
        program = run.write("bin/ansible-playbook", "#!/bin/sh\necho gone; exit 9\n")
        program.chmod(0o755)
        run.bin = program.parent
        message = run.run().termination["message"]
        self.assertEqual(message, "play.yml ended with exit code 9 before any task ran. See the end of the log for the reason.")
